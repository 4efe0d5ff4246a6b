/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/format_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "switchboard/entry.h"

#define SHARD_OCTETS 4 /* 8 digits */

void format_head_print(const FormatHead *head, char text[FORMAT_HEAD_SIZE + 1])
{
    char checksum[HASH_DIGITS + 1];
    name_hash_format(head->checksum, checksum);
    g_snprintf(text, FORMAT_HEAD_SIZE + 1, FORMAT_MAGIC "%010zu %012zu %012zu %u %s\n", head->meta_length,
               head->recipients_length, head->message_length, MIN(head->crashes, ENTRY_CRASHES_MAX), checksum);
}

/* Reads digits and the one byte that must follow. */
static bool read_field(const char **at, int digits, char follows, size_t *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        *value = *value * 10 + (size_t)(**at - '0');
    }
    return *(*at)++ == follows;
}

bool format_head_parse(const char *text, FormatHead *head)
{
    const char *at = text + FORMAT_MAGIC_SIZE;
    size_t crashes;
    if (memcmp(text, FORMAT_MAGIC, FORMAT_MAGIC_SIZE) != 0 ||
        !read_field(&at, FORMAT_META_DIGITS, ' ', &head->meta_length) ||
        !read_field(&at, FORMAT_LENGTH_DIGITS, ' ', &head->recipients_length) ||
        !read_field(&at, FORMAT_LENGTH_DIGITS, ' ', &head->message_length) || !read_field(&at, 1, ' ', &crashes))
        return false;
    head->crashes = (unsigned)crashes;
    return name_hash_parse(at, head->checksum) && at[HASH_DIGITS] == '\n';
}

void format_tail_print(const uint8_t hash[HASH_SIZE], char text[FORMAT_TAIL_SIZE + 1])
{
    char digits[HASH_DIGITS + 1];
    name_hash_format(hash, digits);
    g_snprintf(text, FORMAT_TAIL_SIZE + 1, FORMAT_TAIL_MAGIC "%s\n", digits);
}

EVP_MD_CTX *format_checksum_new(void)
{
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    if (!sum || EVP_DigestInit_ex(sum, EVP_sha1(), NULL) != 1)
        g_error("SHA-1 is not available in OpenSSL");
    return sum;
}

void format_checksum_meta(EVP_MD_CTX *sum, const char *meta, size_t length)
{
    EVP_DigestUpdate(sum, meta, length);
}

bool format_checksum_recipients(EVP_MD_CTX *sum, const char *lines, size_t length)
{
    char block[8192];
    size_t filled = 0;
    const char *end = lines + length;
    while (lines < end) {
        const char *feed = memchr(lines, '\n', (size_t)(end - lines));
        if (!feed || feed - lines < 2 || !strchr(" DB", *lines) || *lines == '\0')
            return false;
        size_t line = (size_t)(feed - lines) + 1;
        if (filled + line > sizeof block) {
            EVP_DigestUpdate(sum, block, filled);
            filled = 0;
        }
        if (line > sizeof block) {
            EVP_DigestUpdate(sum, " ", 1);
            EVP_DigestUpdate(sum, lines + 1, line - 1);
        } else {
            memcpy(block + filled, lines, line);
            block[filled] = RECIPIENT_TODO;
            filled += line;
        }
        lines = feed + 1;
    }
    EVP_DigestUpdate(sum, block, filled);
    return true;
}

void format_checksum_end(EVP_MD_CTX *sum, FormatHead *head)
{
    char lengths[64];
    int length = g_snprintf(lengths, sizeof lengths, "%010zu %012zu %012zu", head->meta_length, head->recipients_length,
                            head->message_length);
    EVP_DigestUpdate(sum, lengths, (size_t)length);
    EVP_DigestFinal_ex(sum, head->checksum, NULL);
}

void format_hash_message(EVP_MD_CTX *sum, const void *octets, size_t length)
{
    EVP_DigestUpdate(sum, octets, length);
}

void format_hash_end(EVP_MD_CTX *sum, const char *list, int64_t arrival, int64_t ordinal, const char *shard,
                     uint8_t hash[HASH_SIZE])
{
    g_autofree char *rest = g_strdup_printf("%s%c%" PRId64 "%c%" PRId64, list, 0, arrival, 0, ordinal);
    size_t list_length = strlen(list);
    size_t length = list_length + 1 + strlen(rest + list_length + 1);
    length += 1 + strlen(rest + length + 1);
    EVP_DigestUpdate(sum, "", 1); /* the NUL after the message */
    EVP_DigestUpdate(sum, rest, length);
    EVP_DigestFinal_ex(sum, hash, NULL);
    if (shard) {
        uint8_t digest[EVP_MAX_MD_SIZE];
        if (EVP_Digest(shard, strlen(shard), digest, NULL, EVP_sha1(), NULL) != 1)
            g_error("SHA-1 is not available in OpenSSL");
        memcpy(hash, digest, SHARD_OCTETS);
    }
}
