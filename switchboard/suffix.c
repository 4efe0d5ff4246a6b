/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/suffix_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/fs.h"

const Hand hand_runner = {SUFFIX_CLAIMED, SUFFIX_DECIDED, '-'};
const Hand hand_operator = {SUFFIX_TAKEN, SUFFIX_MOVED, '+'};

void suffix_file(const EntryName *name, const char *suffix, char file[FILE_NAME_SIZE])
{
    name_format(name, file);
    g_strlcat(file, suffix, FILE_NAME_SIZE);
}

void suffix_tagged(const Hand *hand, const EntryName *name, const Queue *parents, const uint8_t *hash,
                   char file[FILE_NAME_SIZE])
{
    char text[NAME_SIZE], digits[HASH_DIGITS + 1];
    name_format(name, text);
    name_hash_format(hash, digits);
    g_snprintf(file, FILE_NAME_SIZE, "%s.%s%c%s" SUFFIX_TMP, text, queue_name(parents), hand->join, digits);
}

bool suffix_parse_tag(const Hand *hand, const char *rest, Tag *tag)
{
    if (*rest != '.')
        return false;
    rest++;
    size_t length = strlen(rest);
    const size_t tail = 1 + HASH_DIGITS + strlen(SUFFIX_TMP); /* "-HASH.tmp" */
    if (length <= tail || length - tail > QUEUE_NAME_MAX || strcmp(rest + length - strlen(SUFFIX_TMP), SUFFIX_TMP) != 0)
        return false;
    size_t queue_length = length - tail;
    if (rest[queue_length] != hand->join || !name_hash_parse(rest + queue_length + 1, tag->hash))
        return false;
    memcpy(tag->queue, rest, queue_length);
    tag->queue[queue_length] = '\0';
    return queue_name_valid(tag->queue);
}

#define UNIT ".unit="

void suffix_prepared(const EntryName *name, const char *tag, char file[FILE_NAME_SIZE])
{
    char text[NAME_SIZE];
    name_format(name, text);
    g_snprintf(file, FILE_NAME_SIZE, "%s" UNIT "%s" SUFFIX_TMP, text, tag);
}

bool suffix_parse_prepared(const char *rest, char tag[PREPARED_TAG_DIGITS + 1])
{
    const char *digits = rest + strlen(UNIT);
    if (!g_str_has_prefix(rest, UNIT) || strspn(digits, "0123456789abcdef") != PREPARED_TAG_DIGITS ||
        strcmp(digits + PREPARED_TAG_DIGITS, SUFFIX_TMP) != 0)
        return false;
    memcpy(tag, digits, PREPARED_TAG_DIGITS);
    tag[PREPARED_TAG_DIGITS] = '\0';
    return true;
}

const char *const suffix_stored[] = {SUFFIX_READY,     SUFFIX_CLAIMED, SUFFIX_DECIDED,
                                     SUFFIX_PRESERVED, SUFFIX_TAKEN,   SUFFIX_MOVED, NULL};

bool suffix_move(Queue *queue, EntryName *name, const char *from, const char *suffix, GError **error)
{
    for (;; name->due++) {
        char file[FILE_NAME_SIZE];
        suffix_file(name, suffix, file);
        g_autoptr(GError) fault = NULL;
        if (fs_rename_new(queue_fd(queue), from, file, &fault))
            return true;
        if (!g_error_matches(fault, FAIL, FAIL_EXISTS)) {
            g_propagate_prefixed_error(error, g_steal_pointer(&fault), "queue %s: ", queue_name(queue));
            return false;
        }
    }
}

bool suffix_publish(Queue *queue, EntryName *name, const char *tagged, GError **error)
{
    return suffix_move(queue, name, tagged, SUFFIX_READY, error);
}

bool suffix_unlink(Queue *queue, const char *file, GError **error)
{
    g_autoptr(GError) fault = NULL;
    if (fs_unlink(queue_fd(queue), file, &fault) || g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "queue %s: ", queue_name(queue));
    return false;
}

bool suffix_preserve(Queue *queue, const EntryName *name, const char *claimed, GError **error)
{
    EntryName kept = *name;
    if (!suffix_move(queue, &kept, claimed, SUFFIX_PRESERVED, error))
        return false;
    if (fs_sync_dir(queue_fd(queue), error))
        return true;
    g_prefix_error(error, "queue %s: ", queue_name(queue));
    return false;
}
