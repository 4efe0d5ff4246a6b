/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A draft is an entry to be: what a handler wants written into a queue. It
 * holds references until it is written and knows nothing of syncing; the hop
 * (hop.h) and the intake (intake.h) do that.
 *
 * The draft consumes meta (a reference) and holds references to the pieces
 * of the message, so a body is never copied in memory.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "switchboard/entry.h"
#include "switchboard/meta.h"
#include "switchboard/name.h"
#include "switchboard/spool.h"

typedef struct Draft Draft;

/* Gives the next recipient's address, borrowed until the next call, without
 * line feeds; NULL at the end, or with *error set. */
typedef const char *DraftRecipients(void *data, GError **error);

/* An entry for queue. The arrival time, list, trace and ordinal are read from
 * meta; a missing arrival is set to clock_unique(), a missing trace to the start of the hash. */
Draft *draft_new(const char *queue, json_t *meta);
void draft_free(Draft *draft);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Draft, draft_free)

/* Appends octets to the message: a new reference is taken. Not after draft_name(). */
void draft_add_message(Draft *draft, GBytes *octets);

/* The message of the other, for good: both have it, and it is hashed once. */
void draft_share_message(Draft *draft, const Draft *other);

/* A copy of entry for queue: metadata, message and the recipients that are
 * still to do. The entry must outlive the draft. */
Draft *draft_from_entry(const char *queue, Entry *entry);

/* When it is due; the default is the arrival time, or now when the clock was
 * set back since. */
void draft_set_due(Draft *draft, int64_t due);

/* Where the recipients come from: read once, while the draft is written. Takes the place of where they came from
 * before. */
void draft_set_recipients(Draft *draft, DraftRecipients *next, void *data, GDestroyNotify destroy);

/* These addresses (consumed as by g_strfreev()). */
void draft_set_addresses(Draft *draft, char **addresses);
/* Those of entry that are still to do; it must outlive the draft. */
void draft_copy_recipients(Draft *draft, const Entry *entry);

const char *draft_queue(const Draft *draft);
json_t *draft_meta(Draft *draft); /* borrowed */
size_t draft_message_length(const Draft *draft);

/* The name it will have. Computed once, when first asked for; the hash covers message, list,
 * arrival, ordinal, shard key. A taken name is settled by draft_bump(), a microsecond later. */
const EntryName *draft_name(Draft *draft);
void draft_bump(Draft *draft);

/* Writes the whole file into queue's directory as file (which must not exist)
 * and returns its descriptor, unsynced; -1 on failure, with the file removed.
 * FAIL_NEVER for metadata or an address that no entry can hold. Recipients
 * are read from their source, so a draft that has any is written only once. */
int draft_write(Draft *draft, Queue *queue, const char *file, GError **error);
