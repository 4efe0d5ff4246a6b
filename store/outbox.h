/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Commit a decision in the database together with the queue entries that it leaves in the spool (lists/README.md tells
 * the protocol).
 *
 * An OutboxRow holds a whole entry, sealed (lists/kept.h). An OutboxUnit is the row of a tag. In the
 * transaction of the decision, rows keep the entries, under the name of a tag, and the unit of that tag says so. Then
 * the entries are prepared in the spool under another tag. Its unit takes the place of the first one and of the rows,
 * in one transaction, and says that the prepared entries are to be published. It is removed when they are in their
 * queues for good. Whoever finds prepared entries after a crash asks outbox_unit_decide() whether they count.
 *
 * A runner that works an entry keeps the entries that it makes of it in rows, too, under the name of the entry in hand.
 * The runner's hop, the step by which an entry becomes other entries, makes them in the spool. The rows are there so
 * that the same entries are made again after a crash.
 *
 * Hosts that share the database have a spool each, and units and rows of a spool can be settled only there. spool is
 * the spool's id (switchboard/spool.h).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Stands before the queues of a unit whose entries are in rows still. No queue has this name. */
#define OUTBOX_KEPT "*"

typedef struct OutboxUnit {
    char *tag;
    char *queues; /* names with blanks between; empty where outbox_unit_decide() wrote the row; OUTBOX_KEPT first where
                     the entries are in rows still */
    int64_t made_at;
    bool given_up; /* the decision was never committed: the prepared entries are to be removed */
} OutboxUnit;

/* Note that the entries prepared under tag in these queues are to be published. Call it in the transaction of the
 * decision, so that it counts when that commits. FAIL_RACE: outbox_unit_decide() has given up the tag meanwhile. */
bool outbox_unit_add(Store *store, const char *spool, const char *tag, const char *queues, int64_t now, GError **error);

/* Set *committed: was the decision of this tag committed? If not, give the tag up, so that it can be committed no
 * more. The answer is on the disk on return, and stays the same until the row is removed. Call it outside of a
 * transaction. */
bool outbox_unit_decide(Store *store, const char *spool, const char *tag, int64_t now, bool *committed, GError **error);

/* Return the units of a spool (NULL: of all): of OutboxUnit, freed with the array. */
GPtrArray *outbox_units(Store *store, const char *spool, GError **error);

/* Are the entries of the unit in rows still? */
bool outbox_unit_is_kept(const OutboxUnit *unit);

/* Remove a unit. A committed one may be removed only when no file in the spool bears the tag any more, and the
 * directory was synced after that. */
bool outbox_unit_remove(Store *store, const char *tag, GError **error);

/* Remove the unit of this tag whose entries are in rows, and these. Call it in the transaction that adds the unit of
 * the prepared entries. *there is false where another process has removed them. */
bool outbox_unit_take_kept(Store *store, const char *tag, bool *there, GError **error);

/* Count the units, and set *oldest to when the first of them was made (0: there is none): those of the host's spool, or
 * all where the host has no row (store/hosts/host.h). */
bool outbox_count(Store *store, const char *host, int64_t *count, int64_t *oldest, GError **error);

typedef struct OutboxRow {
    int64_t number;
    GBytes *sealed;
    int64_t made_at;
} OutboxRow;

/* Keep row for the entry ("command:4cd1...") that the runner has in hand, or for the tag of a unit. row stays the
 * caller's; its number is set, and is never used twice. */
bool outbox_add(Store *store, const char *spool, const char *entry, OutboxRow *row, GError **error);

/* Return the rows of an entry, in order: of OutboxRow, freed with the array. */
GPtrArray *outbox_of(Store *store, const char *entry, GError **error);
bool outbox_remove_of(Store *store, const char *entry, GError **error); /* true also where there are none */
/* Return the entries of a spool (NULL: of all) that have rows made before this time, each once; g_strfreev(). */
char **outbox_entries(Store *store, const char *spool, int64_t before, GError **error);
