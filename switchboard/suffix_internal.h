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
#define SUFFIX_TAKEN ".opc"
#define SUFFIX_MOVED ".opd"

/* In whose hands an entry is while it makes a hop: a runner's or those of an operator's
 * command (operate.h). Each has names of its own, so that neither ever takes the other's
 * files for its own. */
typedef struct Hand {
    const char *claimed, *decided;
    char join; /* between queue and hash in a child's tag */
} Hand;

extern const Hand hand_runner, hand_operator;

#define FILE_NAME_SIZE (NAME_LENGTH + 1 + QUEUE_NAME_MAX + 1 + HASH_DIGITS + 8)

typedef struct Tag {
    char queue[QUEUE_NAME_MAX + 1];
    uint8_t hash[HASH_SIZE]; /* of the parent */
} Tag;

/* NAME and suffix. */
void suffix_file(const EntryName *name, const char *suffix, char file[FILE_NAME_SIZE]);

/* NAME and the tag for a child of the parent with that queue and hash. */
void suffix_tagged(const Hand *hand, const EntryName *name, const Queue *parents, const uint8_t *hash,
                   char file[FILE_NAME_SIZE]);

/* Read ".QUEUE-HASH.tmp", what name_parse() left over; false when it is no tag of that hand. */
bool suffix_parse_tag(const Hand *hand, const char *rest, Tag *tag);

/* NAME and the tag of a unit, PREPARED_TAG_DIGITS hex digits: NAME.unit=TAG.tmp (prepared.h). */
#define PREPARED_TAG_DIGITS 32
void suffix_prepared(const EntryName *name, const char *tag, char file[FILE_NAME_SIZE]);

/* Read ".unit=TAG.tmp", what name_parse() left over; false when it is something else. */
bool suffix_parse_prepared(const char *rest, char tag[PREPARED_TAG_DIGITS + 1]);

/* The suffixes of an entry that was stored: every state but being written. NULL ends them. */
extern const char *const suffix_stored[];

/* Rename the file to NAME and suffix; a taken name is settled by a
 * microsecond, so that nothing is ever replaced. Sets name->due accordingly. */
bool suffix_move(Queue *queue, EntryName *name, const char *from, const char *suffix, GError **error);

/* Unlink the file; that it is gone already is no failure. */
bool suffix_unlink(Queue *queue, const char *file, GError **error);

/* Set a claimed file aside (T9): rename it to .psv, and sync the directory. */
bool suffix_preserve(Queue *queue, const EntryName *name, const char *claimed, GError **error);

/* Publish (T7): the tagged file becomes .msg. */
bool suffix_publish(Queue *queue, EntryName *name, const char *tagged, GError **error);
