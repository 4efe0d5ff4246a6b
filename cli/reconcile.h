/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make a spool and a database of different ages fit, after a restore and before anything is started: no post is lost or
 * doubled as far as can be known, and a row tells of each whose fate cannot be known. Nobody else may use the spool.
 *
 * The spool is the older one: its entries are as they were at its moment, and may have been worked on since.
 *
 *   an entry whose effect the database has   goes to hold: what became of it is lost or was sent
 *   a post that the trail says went out      goes to hold likewise, if it was not judged at that moment
 *   mail on its way out                      to whom the trail says it went, it does not go again; without a trail it
 *                                            goes to hold
 *   letters of our own (virgin)              go to hold
 *   all else                                 is worked on: the database has nothing of it
 *
 * The database is the older one: the numbers of posts go on behind those that the spool has; a held post that the spool
 * has as accepted is no longer held; a scheduled post that the spool or the trail has as sent does not wait any more,
 * and one that was due since is told; entries of lists that the database does not know are told.
 *
 * Both passes may be repeated.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "cli/listing.h"
#include "store/store.h"
#include "switchboard/spool.h"

typedef struct Reconcile {
    const Config *config;
    Spool *spool;
    Store *store;
    Listing *listing; /* of reconcile_columns */
    unsigned unknown; /* out: rows of what could not be known */
} Reconcile;

extern const Column reconcile_columns[];

/* The spool is of that moment (us). later: the database is of a later one; else it may be of the same, and nothing is
 * done where neither it nor the trail tells of more. */
bool reconcile_old_spool(Reconcile *reconcile, int64_t moment, bool later, GError **error);

/* The database may be older than the spool. moment: when it was copied (us); 0: nothing says that it is older. */
bool reconcile_old_store(Reconcile *reconcile, int64_t moment, GError **error);
