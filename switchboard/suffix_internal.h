/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * File names of the states (INTERNALS.md), and the tag that ties a child
 * being written to its parent: NAME.QUEUE-HASH.tmp.
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/name.h"
#include "switchboard/spool.h"

#define SUFFIX_TMP ".tmp"
#define SUFFIX_READY ".msg"
#define SUFFIX_CLAIMED ".bak"
#define SUFFIX_DECIDED ".done"
#define SUFFIX_PRESERVED ".psv"

#define FILE_NAME_SIZE (NAME_LENGTH + 1 + QUEUE_NAME_MAX + 1 + HASH_DIGITS + 8)

typedef struct Tag {
    char queue[QUEUE_NAME_MAX + 1];
    uint8_t hash[HASH_SIZE]; /* of the parent */
} Tag;

/* NAME and suffix. */
void suffix_file(const EntryName *name, const char *suffix, char file[FILE_NAME_SIZE]);

void suffix_tagged(const EntryName *name, const Queue *parents, const uint8_t *hash, char file[FILE_NAME_SIZE]);

/* Reads ".QUEUE-HASH.tmp", what name_parse() left over; false when it is no tag. */
bool suffix_parse_tag(const char *rest, Tag *tag);

/* Publishes (T7): renames the tagged file to .msg; a taken name is settled by
 * a microsecond. Sets name->due accordingly. */
bool suffix_publish(Queue *queue, EntryName *name, const char *tagged, GError **error);
