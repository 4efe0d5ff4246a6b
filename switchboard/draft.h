/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Describe an entry that is to be written into a queue. A draft takes over one reference to its metadata. It holds
 * references to the pieces of its message, so a body is never copied in memory. Nothing is synced here: the hop (hop.h)
 * and the intake (intake.h) do that.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "switchboard/entry.h"
#include "switchboard/meta.h"
#include "switchboard/name.h"
#include "switchboard/spool.h"

typedef struct Draft Draft;

/* Return the next recipient's address, which has no line feeds and is borrowed until the next call; NULL at the end,
 * and with *error set when it fails. */
typedef const char *DraftRecipients(void *data, GError **error);

/* Make a draft for queue. The arrival time, list, trace and ordinal are read from meta; a missing arrival is set to
 * clock_unique(), a missing trace to the start of the hash. */
Draft *draft_new(const char *queue, json_t *meta);
void draft_free(Draft *draft);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Draft, draft_free)

/* Append bytes to the message, by a new reference. Not allowed after draft_name(). */
void draft_add_message(Draft *draft, GBytes *octets);

/* Give the draft, which has no message yet, the whole of a file for a message. The file is read in blocks, now for
 * the hash, and again when the draft is written. So no process holds all of a large message in memory. fd is taken;
 * nobody may change the file until the draft is freed. FAIL_LATER: it cannot be read. */
bool draft_set_file(Draft *draft, int fd, GError **error);

/* Give the draft the message of another one. The message is hashed once for both, and neither may change any more. */
void draft_share_message(Draft *draft, const Draft *other);

/* Make a draft for queue that copies an entry: its metadata except the ordinal, its message, and its recipients that
 * are still to do. The entry must outlive the draft. */
Draft *draft_from_entry(const char *queue, Entry *entry);

/* Set the due time. The default is the arrival time, or now when the clock was set back since. */
void draft_set_due(Draft *draft, int64_t due);

/* Set the source of the recipients, in place of any source before. It is read once, while the draft is written. */
void draft_set_recipients(Draft *draft, DraftRecipients *next, void *data, GDestroyNotify destroy);

/* Set these addresses as the recipients; the array is consumed. */
void draft_set_addresses(Draft *draft, char **addresses);
/* Set the recipients of an entry that are still to do as those of the draft. The entry must outlive the draft. */
void draft_copy_recipients(Draft *draft, const Entry *entry);

const char *draft_queue(const Draft *draft);
json_t *draft_meta(Draft *draft); /* borrowed */
size_t draft_message_length(const Draft *draft);
/* Return the message in one piece, as a new reference. Not for a draft whose message is a file. */
GBytes *draft_message(const Draft *draft);
/* Return what draft_set_addresses() was given, borrowed; NULL: nothing. */
const char *const *draft_addresses(const Draft *draft);
/* Check what makes draft_write() fail for ever: FAIL_NEVER: the metadata or an address of draft_set_addresses() cannot
 * be stored in an entry. */
bool draft_check(Draft *draft, GError **error);

/* Return the name that the entry will have. It is computed at the first call; its hash covers message, list, arrival,
 * ordinal and shard key. When the name is taken, draft_bump() moves it on by a microsecond. */
const EntryName *draft_name(Draft *draft);
void draft_bump(Draft *draft);

/* Write the whole entry into queue's directory under the name file, which must be free, and return its descriptor,
 * unsynced. -1: it failed, and the file is removed; with FAIL_NEVER the metadata or an address cannot be stored in an
 * entry. Recipients are read from their source, so a draft that has any can be written once only. */
int draft_write(Draft *draft, Queue *queue, const char *file, GError **error);
