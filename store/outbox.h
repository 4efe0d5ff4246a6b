/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * How a decision and the entries that it leaves behind are committed together (lists/README.md tells the protocol).
 *
 * A unit is the row under whose tag entries were prepared in the spool. It comes with the transaction of the decision,
 * and is removed when the entries are in their queues for good.
 *
 * An OutboxRow is an entry itself, kept for an entry that a runner has in hand: that runner's hop makes it, and the row
 * is there to make the same one again after a crash.
 *
 * Hosts that share the database have a spool each, and only what belongs to a spool can be settled there: spool is its
 * id (switchboard/spool.h). Rows from before there were several hosts have none, and belong to whoever asks.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct OutboxUnit {
    char *tag;
    char *queues; /* names with blanks between; empty when nobody but who gave it up wrote the row */
    int64_t made_at;
    bool given_up; /* the entries are to be removed */
} OutboxUnit;

void outbox_unit_free(OutboxUnit *unit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OutboxUnit, outbox_unit_free)

/* Note that the entries prepared under tag in these queues are to be published, when the transaction at hand is
 * committed. FAIL_RACE: the tag was given up. */
bool outbox_unit_add(Store *store, const char *spool, const char *tag, const char *queues, int64_t now, GError **error);

/* Say what was decided for tag, and give it up if nothing was. The answer is on the disk on return, and stays the same
 * until the row is removed. Commits a transaction of its own. */
bool outbox_unit_decide(Store *store, const char *spool, const char *tag, int64_t now, bool *committed, GError **error);

/* Return the units of a spool (NULL: of all): of OutboxUnit, freed with the array. */
GPtrArray *outbox_units(Store *store, const char *spool, GError **error);

/* Remove a unit: a committed one only when no file bears the tag any more, and the disk knows that. */
bool outbox_unit_remove(Store *store, const char *tag, GError **error);

/* How many units are there, and rows that wait (outbox_waiting()), and when the oldest was made (0: there is none). Of
 * several hosts, those in the spool of this one: no other can settle them. */
bool outbox_count(Store *store, const char *host, int64_t *count, int64_t *oldest, GError **error);

typedef struct OutboxRow {
    int64_t number;
    char *queue, *meta;
    char *recipients; /* one a line */
    GBytes *message;
    int64_t made_at;
} OutboxRow;

void outbox_row_free(OutboxRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OutboxRow, outbox_row_free)

/* entry ("command:4cd1...") is the one that it belongs to. number is set on return and is never used twice. */
bool outbox_add(Store *store, const char *spool, const char *entry, OutboxRow *row, GError **error);

/* Return the rows of an entry, in order: of OutboxRow, freed with the array. */
GPtrArray *outbox_of(Store *store, const char *entry, GError **error);
bool outbox_remove_of(Store *store, const char *entry, GError **error);
/* The entries of a spool (NULL: of all) that have rows which were made before that time; g_strfreev(). */
char **outbox_entries(Store *store, const char *spool, int64_t before, GError **error);

/* Rows of no entry, which programs before schema 26 left: those for a queue, or all for NULL. */
GPtrArray *outbox_waiting(Store *store, const char *queue, GError **error);
/* Remove one. *there: it was still there. */
bool outbox_take(Store *store, int64_t number, bool *there, GError **error);
