/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Entries that a runner's hop makes, kept in the database for the parent that it has in hand, so that the same ones can
 * be made again after a crash (store/outbox.h). Letters and tokens are in them, which the database holds nowhere else
 * in the clear. So a row is sealed with AES-256-GCM, for its parent, by a key that only the spool has.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/outbox.h"
#include "store/store.h"
#include "switchboard/spool.h"

/* The file in the spool. */
#define KEPT_KEY_FILE ".outbox-key"

typedef struct KeptKey {
    unsigned char octets[32];
    char spool[SPOOL_ID_SIZE]; /* whose it is */
} KeptKey;

/* Read the spool's key; make it when there is none. FAIL_CONFIG: it is no key. */
bool kept_key_read(Spool *spool, KeptKey *key, GError **error);

/* Add a row for entry ("command:4cd1..."), sealed. It sets row->number. */
bool kept_add(Store *store, const KeptKey *key, const char *entry, OutboxRow *row, GError **error);

/* Return the rows of entry, opened, in order: of OutboxRow. Rows that an older program left are not sealed. FAIL_NEVER:
 * one was sealed with another key, or for another entry, or is damaged. */
GPtrArray *kept_of(Store *store, const KeptKey *key, const char *entry, GError **error);

/* Remove the rows of this spool made before that time whose entry is gone. One that is in any queue in any state keeps
 * its rows, for a command may have moved it, and it may come back. Looks through all queues when there are such
 * rows. */
bool kept_forget_gone(Store *store, Spool *spool, int64_t before, GError **error);
