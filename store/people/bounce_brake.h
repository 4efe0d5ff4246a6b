/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Count how many members of a list fail with one reply on a day (UTC), and tell when they are so many that the reply
 * says more about who sends, or about the other side's state, than about each mailbox: a brake closes for that reply.
 * There are two counts, of which either closes:
 *
 *   the members at one mail domain: at least BOUNCE_BRAKE_LEAST, and more than half of the list's members there
 *   the members of the list: at least BOUNCE_BRAKE_LEAST at more than one domain, and more than a tenth of the list
 *
 * A closed brake holds until the reply was not seen for BOUNCE_BRAKE_QUIET. Of a reply that says that the mailbox is
 * missing, disabled or full (`mailbox`), it holds for the day on which it closed; such replies then count, and it does
 * not close again, until they were not seen for BOUNCE_BRAKE_ONCE: a directory that is broken for a day costs nobody
 * points, and dead mailboxes get theirs a day later. A list has at most BOUNCE_BRAKE_ROWS replies; the one that was not
 * seen for longest goes, one whose brake has closed only when these are more than half.
 *
 * A row that was written more than a minute from now is not believed: the clock was ahead then.
 *
 * Times are microseconds since 1970. Errors are those of the store; FAIL_MISSING: there is no such list.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/people/bounce.h"

#define BOUNCE_BRAKE_LEAST 5
#define BOUNCE_BRAKE_QUIET (2 * BOUNCE_DAY)
#define BOUNCE_BRAKE_ONCE (30 * BOUNCE_DAY)
#define BOUNCE_BRAKE_ROWS 200

/* A member's failure, all borrowed. */
typedef struct BounceBrakeEvent {
    const char *list_id;
    const char *domain; /* of the member's address, in lower case */
    const char *reply;  /* what replies of this kind have in common */
    const char *text;   /* the reply */
    bool mailbox;       /* it says that the mailbox is missing, disabled or full */
    bool host;          /* the host of the domain could not be found or reached: counts as mailbox for the domain */
    bool first;         /* the member's first failure of the day: others are not counted */
    int64_t at;
} BounceBrakeEvent;

typedef struct BounceBrake {
    bool held;          /* the failure costs no points */
    bool closed;        /* it closed with this failure: points that the reply cost today are to be taken back */
    bool of_list;       /* if it closed: from all members; else from those at the domain */
} BounceBrake;

/* Count the failure, and fill *brake. Count only what is verified (bounce_source_verified()): else anybody could close
 * a brake, or keep it closed, by reports that he writes. */
bool bounce_brake_count(Store *store, const BounceBrakeEvent *event, BounceBrake *brake, GError **error);
/* Fill *brake without counting: held, and of_list where it is the brake of the list that holds. */
bool bounce_brake_look(Store *store, const BounceBrakeEvent *event, BounceBrake *brake, GError **error);

/* A brake that holds now, all borrowed for the call that gets it. */
typedef struct BounceBrakeRow {
    const char *list_id, *domain; /* domain "": it is of the whole list */
    const char *text;
    int64_t number;               /* members who failed on the last day that the reply was seen */
    int64_t closed_at;
} BounceBrakeRow;
typedef void BounceBrakeEach(const BounceBrakeRow *row, void *data);

/* Call each for the brakes that hold at now, the newest first, at most limit; each must not write to the store. */
bool bounce_brake_each(Store *store, int64_t now, int limit, BounceBrakeEach *each, void *data, GError **error);

/* So much of what the failures of an address on a day weigh. */
typedef struct BounceTakenBack {
    const char *list_id, *address;
    int64_t day, weight;
    bool scored; /* the weight is in the member's score */
} BounceTakenBack;

/* Take it back from the day, and from the score of a member who is not disabled. */
bool bounce_take_back(Store *store, const BounceTakenBack *what, GError **error);

/* Remove the counts of replies that were not seen since long before now. */
bool bounce_brake_expire(Store *store, int64_t now, GError **error);
