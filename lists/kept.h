/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep new queue entries in the database until they are stored, so that the same ones can be made again after a crash
 * (store/outbox.h). Where a runner makes them of an entry that it is working, the rows are kept under the name of that
 * entry; where a unit makes them (lists/unit.h), under its tag. They hold letters and tokens, which the database holds
 * nowhere else in the clear. So each row is sealed with AES-256-GCM, for that entry or tag, by a key that only the
 * spool has.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/store.h"
#include "switchboard/draft.h"
#include "switchboard/spool.h"

/* The name of the key's file in the spool. */
#define KEPT_KEY_FILE ".outbox-key"

typedef struct KeptKey {
    unsigned char octets[32];
    char spool[SPOOL_ID_SIZE]; /* the spool whose key it is */
} KeptKey;

/* Read the spool's key; make it when there is none. FAIL_CONFIG: it is no key. */
bool kept_key_read(Spool *spool, KeptKey *key, GError **error);

/* An entry that is kept, as it is when its row is opened. */
typedef struct KeptRow {
    char *queue, *meta;
    char *recipients; /* one a line */
    GBytes *message;
    int64_t made_at;
} KeptRow;

/* Add a row for entry ("command:4cd1..."), sealed. */
bool kept_add(Store *store, const KeptKey *key, const char *entry, const KeptRow *row, GError **error);

/* Do the same with each of the drafts (array of Draft), whose recipients come from draft_set_addresses(). FAIL_NEVER:
 * one can never be written as an entry. */
bool kept_add_drafts(Store *store, const KeptKey *key, const char *entry, GPtrArray *drafts, GError **error);
/* Return what kept_add_drafts() kept for entry: of Draft, freed with the array. */
GPtrArray *kept_drafts(Store *store, const KeptKey *key, const char *entry, GError **error);

/* Return the rows of entry, opened, in order: of KeptRow, freed with the array. FAIL_NEVER: one was sealed with another
 * key, or for another entry, or is damaged. */
GPtrArray *kept_of(Store *store, const KeptKey *key, const char *entry, GError **error);

/* Remove rows of this spool that were made before `before`, if their entry is gone. Those of units stay. An entry that
 * is in any queue, in any state, keeps its rows, since a command may have moved it. If there are such old rows, the
 * function looks through all queues, so do not call it often. */
bool kept_forget_gone(Store *store, Spool *spool, int64_t before, GError **error);
