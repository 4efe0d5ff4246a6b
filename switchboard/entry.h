/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The entry file. Text, so that less(1) can read it:
 *
 *   listrunner 1 MMMMMMMMMM RRRRRRRRRRRR SSSSSSSSSSSS C HHHH...H\n
 *   {"arrival":...,"list":"..."}\n         metadata, M octets with its \n
 *    anne@example.com\n                    recipients, R octets: a state
 *   Dbart@example.com\n                    octet, the address, a line feed
 *   Subject: ...\r\n ...                   the message, S octets, as it came
 *   \nend listrunner 1 HHHH...H\n
 *
 * M, R, S are decimal and zero-padded (10, 12 and 12 digits); C is one digit, the
 * number of crashes; the H of the first line is the SHA-1 of metadata and
 * recipient lines with every state octet taken as ' ', followed by the three
 * lengths as text; the H of the last line repeats the name's hash. State octets and C
 * are overwritten in place, and so is the first word, by LISTRUNNER, when a hop is
 * committed by it (INTERNALS.md, T6); nothing else ever is.
 *
 * The name's hash is SHA-1 of: message octets, NUL, list id, NUL, arrival
 * time, NUL, ordinal (both decimal); with a shard key its first 8
 * digits are those of SHA-1(key).
 *
 * An Entry is an open, verified entry file. It owns its descriptor and map;
 * everything it hands out is borrowed and lives as long as it does. Not thread-safe.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "switchboard/meta.h"
#include "switchboard/name.h"
#include "switchboard/spool.h"

typedef struct Entry Entry;

#define ENTRY_CRASHES_MAX 9
#define RECIPIENT_TODO ' '
#define RECIPIENT_DONE 'D'
#define RECIPIENT_BOUNCED 'B'

/* Opens and verifies file (a name with any suffix) in queue. FAIL_MISSING:
 * gone; FAIL_NEVER: damaged, or no entry at all; FAIL_LATER: the system. */
Entry *entry_open(Queue *queue, const char *file, GError **error);
/* The same in two steps, for who opens many: the first has the disk begin to read, in the second the octets are waited
 * for and verified. Between the two the entry may only be freed, and so after a second that failed. */
Entry *entry_open_begin(Queue *queue, const char *file, GError **error);
bool entry_open_end(Entry *entry, GError **error);
/* For who only looks, and may have no right to more: entry_fd() cannot be written to. */
Entry *entry_open_read(Queue *queue, const char *file, GError **error);
void entry_free(Entry *entry);
/* Its file was unlinked: entry_free() need not wait until the file system has freed it. */
void entry_set_gone(Entry *entry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Entry, entry_free)

Queue *entry_queue(const Entry *entry);
const EntryName *entry_name(const Entry *entry);
const char *entry_text(const Entry *entry);   /* the name as text, no suffix */
const char *entry_trace(const Entry *entry);  /* for the log; the hash if none was set */
json_t *entry_meta(Entry *entry);             /* changes stay in memory */
const char *entry_list(const Entry *entry);   /* List-Id, "" when none */
int64_t entry_arrival(const Entry *entry);
unsigned entry_crashes(const Entry *entry);
bool entry_decided(const Entry *entry);       /* a hop was committed; only roll forward */
int entry_fd(const Entry *entry);

/* The message octets; the GBytes keeps the map alive after entry_free(). */
GBytes *entry_message(Entry *entry); /* new reference */
size_t entry_message_length(const Entry *entry);

/* Recipients. A Recipient is a place in the file: walk them with
 * recipient.offset = 0 and entry_next_recipient() until it returns false; nothing
 * is loaded that is not looked at. The address is not NUL-terminated. */
typedef struct Recipient {
    size_t offset; /* of the line, from the start of the recipient block */
    char state;
    const char *address;
    size_t length;
    size_t next; /* offset of the next line */
} Recipient;

size_t entry_recipients_length(const Entry *entry); /* octets; 0: no recipients */
bool entry_next_recipient(const Entry *entry, size_t offset, Recipient *recipient);

/* Overwrites the state octets of count recipients at the given offsets. Not
 * durable before entry_sync_marks() returned true. */
bool entry_mark(Entry *entry, const size_t *offsets, size_t count, char state, GError **error);
bool entry_sync_marks(Entry *entry, GError **error);

/* The crash count tells how often a process died while it worked on this
 * entry. begin writes it one higher, end as it was: so only the entry in hand
 * when a process dies is charged, not the rest of its batch. Neither is
 * synced; a power cut is nobody's fault. */
bool entry_begin_work(Entry *entry, GError **error);
bool entry_end_work(Entry *entry, GError **error);

/* Writes in the head that the entry is decided. It is when its file is synced:
 * hop.h does this, nobody else. */
bool entry_decide(Entry *entry, GError **error);
