/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Bounces: what came back of which member on which day, and where members
 * stand. The rules (when a member is disabled, warned, removed) are the runner's;
 * here is only what it must not forget. Scores and weights are in hundredths
 * of a point; a day is counted from 1970, UTC.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/member.h"
#include "store/store_type.h"

#define BOUNCE_DAY INT64_C(86400000000) /* microseconds */

/* One bounce, all borrowed. */
typedef struct BounceEvent {
    const char *list_id, *address;
    int64_t at;
    int64_t weight;
    const char *class;  /* "permanent", "temporary", "complaint" */
    const char *status; /* "5.1.1" or "" */
    const char *reason; /* "user-unknown", ... */
    const char *source; /* how it is known: "smtp", "verp", "report", "probe" */
    const char *text;
} BounceEvent;

/* Add it to the member's row of that day, which keeps what was gravest.
 * *added is the weight by which the day became graver, 0 for one that counts no
 * more; *number is how many the day had, this one included. */
bool bounce_note(Store *store, const BounceEvent *event, int64_t *added, int64_t *number, GError **error);

/* Where a member stands. Without a row all numbers are 0. */
typedef struct BounceScore {
    char member_id[STORE_ID_SIZE];
    char *list_id, *address;
    DeliveryStatus status; /* effective */
    int64_t score;
    int64_t last_bounce_at;
    int64_t probe_at;    /* a probe was sent and nothing came back yet */
    int64_t disabled_at; /* by us */
    int64_t warnings;    /* sent since */
    int64_t warned_at;   /* the last of them; 0: none */
    int64_t next_at;     /* when something is due */
} BounceScore;
void bounce_score_clear(BounceScore *score);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BounceScore, bounce_score_clear)

/* FAIL_MISSING: there is no such member (any more). */
bool bounce_score_read(Store *store, const char *member_id, BounceScore *score, GError **error);
/* A row whose numbers are all 0 is removed. */
bool bounce_score_write(Store *store, const BounceScore *score, GError **error);

/* Members for whom something is due at now, the longest due first, at most
 * limit. each may write. */
typedef bool BounceScoreEach(const BounceScore *score, void *data);
bool bounce_score_due(Store *store, int64_t now, int limit, BounceScoreEach *each, void *data, GError **error);
/* When the first of all is due; 0: never. */
bool bounce_score_next(Store *store, int64_t *at, GError **error);

/* The events to show. NULL or 0 means any. */
typedef struct BounceFilter {
    const char *list_id, *address;
    const char *domain; /* of the address */
    const char *reason;
    int64_t since;      /* the day of this time and later ones */
} BounceFilter;

/* A day of a member. */
typedef struct BounceDay {
    const char *list_id, *address, *domain;
    int64_t day, bounces, weight, last_at;
    const char *class, *status, *reason, *source, *text;
} BounceDay;
typedef bool BounceDayEach(const BounceDay *day, void *data);

/* By day, then list and domain; strings are borrowed. each returns false to stop, and must not write to the store. */
bool bounce_day_each(Store *store, const BounceFilter *filter, BounceDayEach *each, void *data, GError **error);

/* Call each for the members who have a score or were disabled for bounces, by list, then domain and local part; last is
 * the last day that is known, or NULL. each as above. */
typedef bool BounceStandingEach(const BounceScore *score, const BounceDay *last, void *data);
bool bounce_standing_each(Store *store, const BounceFilter *filter, BounceStandingEach *each, void *data,
                          GError **error);

/* Forget the score of those whom filter names (list_id, address, domain, the last reason) and
 * enables whom bounces disabled. *changed: how many. Looks at one address, or at those who have a score, never at all
 * members. */
bool bounce_reset(Store *store, const BounceFilter *filter, int64_t *changed, GError **error);

/* Count something that is bounded by list and day; *today includes this one. */
bool bounce_count(Store *store, const char *list_id, const char *what, int64_t now, int64_t *today, GError **error);

/* Drop days and counts before that of time. */
bool bounce_expire(Store *store, int64_t time, GError **error);
