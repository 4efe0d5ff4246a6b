/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read an entry file, and change the few bytes of it that may change. The file is text, so that less(1) can show it:
 *
 *   listrunner 1 MMMMMMMMMM RRRRRRRRRRRR SSSSSSSSSSSS C HHHH...H\n
 *   {"arrival":...,"list":"..."}\n         metadata, M bytes with its \n
 *    anne@example.com\n                    recipients, R bytes: a state
 *   Dbart@example.com\n                    byte, the address, a line feed
 *   Subject: ...\r\n ...                   the message, S bytes, as it came
 *   \nend listrunner 1 HHHH...H\n
 *
 * M, R and S are decimal and padded with zeros to 10, 12 and 12 digits. C is one digit, the number of crashes. The H of
 * the first line is the SHA-1 of the metadata and the recipient lines, with ' ' for every state byte, followed by the
 * three lengths as text. The H of the last line repeats the hash of the name. Two things are overwritten in place: the
 * state bytes and C.
 *
 * The hash of the name is the SHA-1 of: the message, NUL, list id, NUL, arrival time, NUL, ordinal (both decimal). With
 * a shard key its first 8 digits are those of SHA-1(key).
 *
 * An Entry is an open and verified entry file. It owns its descriptor and map. Everything it returns is borrowed and
 * lives as long as the Entry. It is not thread-safe.
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

/* Open and verify a file of a queue; file is a name with any suffix. FAIL_MISSING: there is no such file. FAIL_NEVER:
 * it is damaged, or not an entry. FAIL_LATER: the system failed. */
Entry *entry_open(Queue *queue, const char *file, GError **error);
/* Open an entry in two steps, to open many at once: entry_open_begin() lets the disk begin to read, entry_open_end()
 * waits for the bytes and verifies them. Between the two, and when the second fails, the entry can only be freed. */
Entry *entry_open_begin(Queue *queue, const char *file, bool writable, GError **error);
bool entry_open_end(Entry *entry, GError **error);
/* Open an entry for reading only, without the right to write it: entry_fd() cannot be written to. */
Entry *entry_open_read(Queue *queue, const char *file, GError **error);
/* Open an entry for reading its metadata and recipients alone, which are verified; the message is neither read nor
 * verified, and cannot be had. */
Entry *entry_open_head(Queue *queue, const char *file, GError **error);
/* Set *arrival to the arrival time that the entry's metadata has. The file is read that far, and not verified. */
bool entry_read_arrival(Queue *queue, const char *file, int64_t *arrival, GError **error);
void entry_free(Entry *entry);
/* Tell the entry that its file was unlinked. Then a thread closes the file for entry_free(), which need not wait until
 * the file system has freed the blocks. */
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
int entry_fd(const Entry *entry);

/* Return the message; the GBytes keeps the map alive after entry_free(). */
GBytes *entry_message(Entry *entry); /* new reference */
size_t entry_message_length(const Entry *entry);

/* One recipient, a place in the file. Walk the recipients by entry_next_recipient(), from offset 0 and then from
 * `next`, until it returns false; only the pages that are walked are read. The address is not NUL-terminated. */
typedef struct Recipient {
    size_t offset; /* of the line, from the start of the recipient block */
    char state;
    const char *address;
    size_t length;
    size_t next; /* offset of the next line */
} Recipient;

size_t entry_recipients_length(const Entry *entry); /* bytes; 0: no recipients */
bool entry_next_recipient(const Entry *entry, size_t offset, Recipient *recipient);

/* Overwrite the state bytes of the recipients at these offsets. They are durable after entry_sync_marks() has returned
 * true. */
bool entry_mark(Entry *entry, const size_t *offsets, size_t count, char state, GError **error);
bool entry_sync_marks(Entry *entry, GError **error);

/* Keep the crash count, which says how often a process died while it worked on this entry. entry_begin_work() writes it
 * one higher, entry_end_work() writes the old value. So only the entry that a dying process had in its hands is
 * charged, and not the rest of its batch. Neither is synced, because a power cut is not the entry's fault. */
bool entry_begin_work(Entry *entry, GError **error);
bool entry_end_work(Entry *entry, GError **error);
