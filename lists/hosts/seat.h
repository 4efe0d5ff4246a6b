/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep a process's seat at the database: the open store, the right of this host to work with it, and the keys that are
 * in it. A program has one Seat, made of the first fields below, and asks seat_keep() once before each batch, request
 * or transaction. What is done in it then takes seat->store, which is not NULL, and asks nothing of the kind again.
 *
 * There are two ways. A queue runner stays: it works with the one database that it opened when it started. If that was
 * removed or replaced, seat_keep() ends the process with CHILD_EXIT_LATER, and the next start opens the one that is
 * there. A door comes back: it goes on without a database, refuses what needs one, and opens it anew when it can.
 *
 * Errors of seat_keep() are those of store_open_configured() and this_host_check(). FAIL_LATER: the database, or its
 * server, is away. FAIL_CONFIG: this database is not for this host or spool, for example that of another site. A server
 * that went away while the store was open is no error: the store connects anew by itself (store_reachable()).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "mail/bounce/verp.h"
#include "mail/loop_mark.h"
#include "store/store.h"
#include "switchboard/spool.h"

typedef struct Seat {
    const Config *config; /* borrowed */
    Spool *spool;         /* borrowed */
    int64_t deadline;     /* STORE_DEADLINE_* of the stores that it opens */
    bool stays;           /* else it comes back */
    bool settles;         /* units (lists/unit.h) that are in rows still are settled each time a store was opened */
    bool pauses;          /* it is opened once a second at most, and for a fifth of the time, since a door serves nobody
                             meanwhile; in between FAIL_LATER is said at once */

    Store *store;       /* NULL: there is none now */
    int log;            /* of one that stays: the file of store_leave_sync(); -1: none */
    bool refused;       /* the last one that was opened is not for this host */
    GPtrArray *secrets; /* of GBytes, the newest first; NULL: not read */
    VerpKeys *keys;     /* of secrets */
    LoopKeys *loop_keys;
    unsigned edition; /* another one for each time that the keys were read */

    bool stale; /* of seat.c, as the next ones */
    int64_t version, keys_until, open_at;
} Seat;

/* Open the database if it is not open, and see whether it is still there if it is. Of one that stays, keys older than a
 * minute count as not read, since somebody may have made a new one. False: the seat has no store; a door may try again.
 */
bool seat_keep(Seat *seat, GError **error);

/* Close the store and drop the keys: at the end, or after a fault of a door's store, which seat_keep() opens again. */
void seat_leave(Seat *seat);

/* Return true while the server of the open database cannot be reached. seat is a Seat: it is for runner_need(). */
bool seat_is_away(void *seat);

/* Read the keys where they are not read yet. They stay at least until the next seat_keep(). False: the store failed. */
bool seat_keys(Seat *seat, GError **error);
/* Read the keys again where the database was changed since (store_version()), for who proves what others have just
 * signed. It asks the store each time. */
bool seat_keys_now(Seat *seat, GError **error);
