/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make a spool and a database of different ages fit, after a restore and before anything is started. No post is lost or
 * sent twice as far as can be known, and a row tells of each whose fate cannot be known. Nobody else may use the spool
 * meanwhile.
 *
 * The spool is the older one: its entries are as they were at its moment, and may have been worked on since.
 *
 *   an entry whose effect the database has   goes to hold: the mail that it made was sent, or is lost
 *   a post in `in` or `pipeline`             goes to hold likewise if the trail says that it went out
 *   mail on its way out                      does not go again to those to whom it went by the trail; without a trail,
 *                                            it goes to hold
 *   letters of our own (virgin)              go to hold
 *   other entries of `in`, `pipeline`,
 *   `digest` and `command`                   are worked on, since the database has no effect of theirs
 *   entries of other queues                  stay as they are
 *   a post that only the database has        is told in a row
 *
 * The database is the older one. The numbers of posts go on behind those that the spool has, and behind as many as the
 * lists took since by the trail. A held post that the spool has as accepted, or that went out by the trail, is no
 * longer held. A scheduled post that was sent, by the spool or the trail, does not wait any more; a row tells of one
 * that has come due. A row tells of each list that only the spool knows.
 *
 * Both may be repeated, also after false. The trail (base/trail/trail.h) is the log of mails on disk.
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
    unsigned unknown; /* out: the number of rows about posts whose fate is not known */
} Reconcile;

extern const Column reconcile_columns[];

/* Settle a spool that was copied at this moment (us), and is the older one. Set later if the database is known to be of
 * a later moment. Else nothing is done where neither the database nor the trail has anything after the moment. */
bool reconcile_old_spool(Reconcile *reconcile, int64_t moment, bool later, GError **error);

/* Settle a database that was copied at this moment (us), and is the older one. moment 0: it is not known to be older,
 * so it is compared with the spool alone, and the trail is not asked. */
bool reconcile_old_store(Reconcile *reconcile, int64_t moment, GError **error);
