/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write an entry as the content of a message, which carries it from one host of the site to another, and read it there.
 * The content, a parcel, is base64 in lines, because mail servers may change line ends and an entry must arrive as it
 * left. Decoded, it is text up to the message:
 *
 *   listrunner-entry 1\n
 *   {"entry":"a.example.org:4cd1...","meta":{...},"queue":"out"}\n
 *   anne@example.com\n          a line for each recipient that is still to do
 *   \n
 *   Subject: ...\r\n            the message, byte for byte
 *
 * "entry" is the name by which the entry is recognized when it comes twice: the host that made it, and the hash of its
 * name there. "queue" is the queue that it is for.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/keys.h"
#include "store/hosts/lost_spool.h"
#include "switchboard/draft.h"
#include "switchboard/entry.h"

#define DOOR_QUEUES "out defragment archive" /* what a host may hand over */

/* Return the name, for "entry", of an entry that was made here, on the host of that name; g_free(). */
char *parcel_name(const Entry *entry, const char *host);

/* Return the parcel of an entry, without the recipients that are done; g_bytes_unref(). */
GBytes *parcel_pack(Entry *entry, const char *name, const char *queue);

/* Return the bytes of a parcel whose text has this many before it is coded, rounded up to whole lines. */
uint64_t parcel_size(uint64_t plain);

/* Read a parcel, and make the draft of its entry, for the queue HANDOVER_QUEUE of this host. FAIL_NEVER: it is no
 * parcel, or is for a queue that no other host may write to. */
Draft *parcel_unpack(GBytes *content, GError **error);

/* Return the name under which the database knows that an entry of this name is worked; g_free(). */
char *parcel_effect(const char *name);

/* Describe an entry of the queue HANDOVER_QUEUE by its metadata, for the database; all fields are borrowed. */
HandedEntry parcel_handed(const json_t *meta, const char *effect, const char *spool);
