/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make, read and change the file names of entries. The suffix tells the state of an entry (INTERNALS.md). While a child
 * (an entry that a hop makes of another entry, its parent) is being written, a tag with the parent's queue and hash
 * ties it to the parent: NAME.QUEUE-HASH.tmp.
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

/* A child that was found in a queue, on its way (S1t, S1o): tagged with its parent. */
typedef struct TaggedChild {
    Queue *queue; /* where it lies */
    EntryName name;
    char file[FILE_NAME_SIZE];
    Tag parent;
} TaggedChild;

/* Set file to NAME and the suffix. */
void suffix_file(const EntryName *name, const char *suffix, char file[FILE_NAME_SIZE]);

/* Set file to NAME and the tag, for a child whose parent is in the queue `parents` and has this hash. */
void suffix_tagged(const Hand *hand, const EntryName *name, const Queue *parents, const uint8_t *hash,
                   char file[FILE_NAME_SIZE]);

/* Read a tag, ".QUEUE-HASH.tmp", from the rest that name_parse() returned. Return false when it is no tag of this hand;
 * *tag may be changed then. */
bool suffix_parse_tag(const Hand *hand, const char *rest, Tag *tag);

/* Set file to NAME.unit=TAG.tmp, for an entry of a unit (prepared.h) whose tag has PREPARED_TAG_DIGITS hex digits. */
#define PREPARED_TAG_DIGITS 32
void suffix_prepared(const EntryName *name, const char *tag, char file[FILE_NAME_SIZE]);

/* Read ".unit=TAG.tmp" from the rest that name_parse() returned; return false when it is something else. */
bool suffix_parse_prepared(const char *rest, char tag[PREPARED_TAG_DIGITS + 1]);

/* The suffixes that an entry can have once it is stored, thus all but .tmp. NULL ends them. */
extern const char *const suffix_stored[];

/* Rename the file `from` to NAME and suffix. While that name is taken, add a microsecond to name->due, so that no file
 * is ever replaced. The rename is not synced. */
bool suffix_move(Queue *queue, EntryName *name, const char *from, const char *suffix, GError **error);

/* Unlink the file. Return true also when it is gone already. */
bool suffix_unlink(Queue *queue, const char *file, GError **error);

/* Set a claimed file aside for a person (T9): rename it to .psv, and sync the directory. */
bool suffix_preserve(Queue *queue, const EntryName *name, const char *claimed, GError **error);

/* Publish a child (T7): rename its tagged file to .msg as suffix_move() does. */
bool suffix_publish(Queue *queue, EntryName *name, const char *tagged, GError **error);
