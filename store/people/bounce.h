/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Record bounces: for each list, address and day how many mails came back and why, and for each member the score that
 * follows from them. The bounce runner has the rules by which it disables, warns and removes members; here is only the
 * record. Scores and weights are in hundredths of a point, times in microseconds, and days are counted from 1970, UTC.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mailbox.h"
#include "store/people/member.h"
#include "store/store_type.h"

#define BOUNCE_DAY INT64_C(86400000000) /* microseconds */

/* One bounce, all borrowed. */
typedef struct BounceEvent {
    const char *list_id;
    const Mailbox *address;
    int64_t at;
    int64_t weight;
    const char *class;  /* "permanent", "temporary", "complaint" */
    const char *status; /* "5.1.1" or "" */
    const char *reason; /* "user-unknown", ... */
    const char *source; /* how it is known: "smtp", "verp", "report", "probe" */
    const char *text;
} BounceEvent;

/* Return false for "report": anybody can write one. */
bool bounce_source_verified(const char *source);

typedef struct BounceNoted {
    int64_t added;  /* by how much the weight of the day grew: add it to the score; 0: an earlier one weighs as much */
    int64_t number; /* bounces of the day, with this one */
    bool first;     /* it is the first one of the day whose source is verified */
} BounceNoted;

/* Add the bounce to the row of its list, address and day. The row counts all bounces of the day, and keeps class,
 * reason, text and so on of the one with the greatest weight; its source is one that is verified, if there was any. */
bool bounce_note(Store *store, const BounceEvent *event, BounceNoted *noted, GError **error);

/* A member's row of scores. Where a member has no row, all numbers are 0. */
typedef struct BounceScore {
    char member_id[STORE_ID_SIZE];
    char *list_id, *address;
    DeliveryStatus status; /* effective, after inheritance; bounce_score_write() does not change it */
    int64_t score;
    int64_t last_bounce_at;
    int64_t probe_at;    /* when a probe was sent whose end is not known yet; 0: none is out */
    int64_t disabled_at; /* when the delivery was disabled for bounces; 0: it was not */
    int64_t warnings;    /* how many warnings were sent since disabled_at */
    int64_t warned_at;   /* when the last of them was sent; 0: none was */
    int64_t next_at;     /* when the runner has to look at the member again */
} BounceScore;
void bounce_score_clear(BounceScore *score);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BounceScore, bounce_score_clear)

/* Fill *score, whose strings the caller frees with bounce_score_clear(). FAIL_MISSING: there is no such member (any
 * more). */
bool bounce_score_read(Store *store, const char *member_id, BounceScore *score, GError **error);
/* Write the row of score->member_id; where score, probe_at and disabled_at are 0, remove it. FAIL_MISSING: there is no
 * such member (any more). */
bool bounce_score_write(Store *store, const BounceScore *score, GError **error);

/* Call each for at most limit rows whose next_at is not after now, the earliest first, until it returns false. Unlike
 * other functions of its kind, this one has read all of them before, so each may write to the store. */
typedef bool BounceScoreEach(const BounceScore *score, void *data);
bool bounce_score_due(Store *store, int64_t now, int limit, BounceScoreEach *each, void *data, GError **error);
/* The same for rows with a time behind `after`. It reads all rows, so it is not for every minute. */
bool bounce_score_ahead(Store *store, int64_t after, int limit, BounceScoreEach *each, void *data, GError **error);

/* The events to show. NULL or 0 means any. */
typedef struct BounceFilter {
    const char *list_id, *address;
    const char *domain; /* of the address */
    const char *reason;
    int64_t since;      /* the day of this time and later ones */
} BounceFilter;

/* The row of one day, list and address. The strings are borrowed for the call that gets it. */
typedef struct BounceDay {
    const char *list_id, *address, *domain;
    int64_t day, bounces, weight, last_at;
    const char *class, *status, *reason, *source, *text;
} BounceDay;
typedef bool BounceDayEach(const BounceDay *day, void *data);

/* Call each for the days that filter names, by day, then list, domain and local part. each must not write to the store;
 * it returns false to stop, and bounce_day_each() then returns true. */
bool bounce_day_each(Store *store, const BounceFilter *filter, BounceDayEach *each, void *data, GError **error);

/* Some rows of one day that weigh something: those whose members come after one, in the order of mailbox_folded(). */
typedef struct BouncePortion {
    const char *list_id, *domain; /* domain NULL: any */
    int64_t day;
    const char *after; /* "" for the first ones */
    int limit;
} BouncePortion;
/* Call each for them, as bounce_day_each() does; only address, day, weight and text are set. */
bool bounce_day_portion(Store *store, const BouncePortion *portion, BounceDayEach *each, void *data, GError **error);

/* Call each for the members who have a row of scores, by list, then domain and local part. last is the member's newest
 * day, or NULL where none is kept. each must not write to the store; it returns false to stop, and
 * bounce_standing_each() then returns true. */
typedef bool BounceStandingEach(const BounceScore *score, const BounceDay *last, void *data);
bool bounce_standing_each(Store *store, const BounceFilter *filter, BounceStandingEach *each, void *data,
                          GError **error);

/* Remove the rows of scores of members, and enable those members whose delivery bounces had disabled. filter names them
 * by list_id, address, domain and the reason of their newest day. *changed is how many rows were removed. */
bool bounce_reset(Store *store, const BounceFilter *filter, int64_t *changed, GError **error);

/* Count one more `what` (a word of the caller's) of the list on the day of now, for things that have a limit a day.
 * *today is how many there are with this one. */
bool bounce_count(Store *store, const char *list_id, const char *what, int64_t now, int64_t *today, GError **error);

/* Remove the rows of days, and the counts, of days before the day of time. Scores stay. */
bool bounce_expire(Store *store, int64_t time, GError **error);

/* ---- brakes ----
 *
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
 * Times are microseconds since 1970. Errors are those of the store; FAIL_MISSING: there is no such list. */

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
