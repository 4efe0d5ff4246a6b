/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * An entry on its way from one host to another, as the content of a message. The content is base64 in lines, because
 * mail servers may change line ends and an entry must arrive as it left. Inside it is text up to the message:
 *
 *   listrunner-entry 1\n
 *   {"entry":"a.example.org:4cd1...","meta":{...},"queue":"out"}\n
 *   anne@example.com\n          a line for each recipient that is still to do
 *   \n
 *   Subject: ...\r\n            the message, byte for byte
 *
 * "entry" is the entry's own name, by which it is known when it comes twice: the host that made it, and the hash of its
 * name there. "queue" is the one that it is for.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/keys.h"
#include "switchboard/draft.h"
#include "switchboard/entry.h"

#define DOOR_QUEUES "out defragment archive" /* what a host may hand over */

/* The name of an entry that was made here, on the host of that name; g_free(). */
char *parcel_name(const Entry *entry, const char *host);

/* Write it, without the recipients that are done; g_bytes_unref(). */
GBytes *parcel_pack(Entry *entry, const char *name, const char *queue);

/* Its bytes when message, metadata and recipients have so many. */
uint64_t parcel_size(uint64_t plain);

/* Make the entry for the queue HANDOVER_QUEUE of this host. FAIL_NEVER: it is no parcel, or for a queue that no other
 * host may write to. */
Draft *parcel_unpack(GBytes *content, GError **error);
