/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write and read the first and the last line of an entry file, and compute its hashes (their form: entry.h). The reader
 * of entries (entry.c) and the writer (draft.c) share this.
 */
#include <glib.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "switchboard/name.h"

#define FORMAT_MAGIC "listrunner 1 "
#define FORMAT_MAGIC_SIZE (sizeof FORMAT_MAGIC - 1)
#define FORMAT_META_DIGITS 10
#define FORMAT_LENGTH_DIGITS 12
#define FORMAT_CRASHES_OFFSET (FORMAT_MAGIC_SIZE + FORMAT_META_DIGITS + 1 + 2 * (FORMAT_LENGTH_DIGITS + 1))
#define FORMAT_HEAD_SIZE (FORMAT_CRASHES_OFFSET + 2 + HASH_DIGITS + 1)
#define FORMAT_TAIL_MAGIC "\nend listrunner 1 "
#define FORMAT_TAIL_SIZE (sizeof FORMAT_TAIL_MAGIC - 1 + HASH_DIGITS + 1)

typedef struct FormatHead {
    size_t meta_length;       /* with its line feed */
    size_t recipients_length;
    size_t message_length;
    unsigned crashes;
    uint8_t checksum[HASH_SIZE];
} FormatHead;

/* Write the first line of an entry file, and read one from FORMAT_HEAD_SIZE bytes. format_head_parse() returns false
 * when they have not the form; it compares neither lengths nor checksum with the file. */
void format_head_print(const FormatHead *head, char text[FORMAT_HEAD_SIZE + 1]);
bool format_head_parse(const char *text, FormatHead *head);

/* Write the last line of an entry file. hash is the one in the entry's name. */
void format_tail_print(const uint8_t hash[HASH_SIZE], char text[FORMAT_TAIL_SIZE + 1]);

/* Compute the checksum of the first line. Call format_checksum_new(), then _meta() with all the metadata, then
 * _recipients() with the recipient lines in any number of pieces that hold whole lines, then _end(). */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EVP_MD_CTX, EVP_MD_CTX_free)
EVP_MD_CTX *format_checksum_new(void);
void format_checksum_meta(EVP_MD_CTX *sum, const char *meta, size_t length);
/* Return false when a line has no valid state byte, no address or no end; the sum is of no use then. */
bool format_checksum_recipients(EVP_MD_CTX *sum, const char *lines, size_t length);
void format_checksum_end(EVP_MD_CTX *sum, FormatHead *head); /* adds head's lengths and sets head->checksum */

/* Compute the hash in an entry's name (entry.h) with a fresh sum of format_checksum_new(). Feed the message in any
 * number of pieces, then end with the values from the metadata. shard NULL: there is no shard key. */
void format_hash_message(EVP_MD_CTX *sum, const void *octets, size_t length);
void format_hash_end(EVP_MD_CTX *sum, const char *list, int64_t arrival, int64_t ordinal, const char *shard,
                     uint8_t hash[HASH_SIZE]);
