/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare the parts of a destination (destination.h) that learn how much it takes, and how fast: its window, a bucket
 * of tokens, its pace, flights, sizes, and the entries that wait for it. destination.c has their functions, and says
 * how each of them learns. A transport has a bucket of its own, for all its destinations together. The functions look
 * at no clock: the caller passes the time (clock_steady(), microseconds, where nothing else is said).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define PACE_SPAN 60             /* seconds that a pace looks back on */
#define PACE_LEAST (1.0 / 60)
#define PACE_REST_MAX (60 * CLOCK_SECOND)
#define PACE_MEMORY (3600 * CLOCK_SECOND)
#define PIPELINING_SLOW (CLOCK_SECOND / 200)
#define PIPELINING_SPAN (CLOCK_SECOND / 2)
#define PIPELINING_PAUSE (600 * CLOCK_SECOND)
#define PIPELINING_DEFAULT 4            /* transactions, where nothing else is wanted */
#define SIZE_MEMORY (24 * 3600 * CLOCK_SECOND) /* a number is believed for so long; one of few recipients for less */
#define PARKED_MAX 200000               /* as many as an inbox knows */

/* A feedback to the window: value, or value divided by the window or by its root (base/config.h). */
typedef enum FeedbackIndex { FEEDBACK_CONSTANT, FEEDBACK_CONCURRENCY, FEEDBACK_SQRT_CONCURRENCY } FeedbackIndex;
typedef struct Feedback {
    double value;
    FeedbackIndex index;
} Feedback;

typedef struct WindowLimits {
    unsigned initial;
    unsigned limit; /* 0: none */
    Feedback positive, negative;
    unsigned cohorts; /* failed cohorts that make it dead; 0: it never dies */
} WindowLimits;

/* How many deliveries may be under way at once. */
typedef struct Window {
    unsigned size; /* 0: dead */
    double success, failure, cohorts;
} Window;

typedef struct Rate {
    double per_second; /* recipients; 0: no limit */
} Rate;

/* One token is one recipient that may be tried. A transaction may go when one is there, and may take more than there
 * are; the next one waits until there is a token again. */
typedef struct Bucket {
    double tokens;
    int64_t filled; /* when tokens was right */
} Bucket;

/* A rate that is learnt. All zero: nothing is known. */
typedef struct Pace {
    Rate rate;         /* 0: no limit is known */
    double refused_at; /* the rate that was refused */
    int64_t since;     /* the first refusal of those remembered */
    int64_t refused;   /* the last */
    unsigned refusals; /* in a row */
    int64_t rests_until;
    int64_t above_since; /* the rate is well above the refused one since then */
    int64_t grown;     /* when the rate last grew */
    int64_t opened;    /* the begin of the time that it was last found open */
    uint64_t taken_open; /* recipients since then */
    int64_t begun;     /* the first recipient of those in taken and tried */
    unsigned taken[PACE_SPAN], tried[PACE_SPAN]; /* recipients by second, two rings */
    int64_t second;    /* the last one of the rings */
} Pace;

/* Whether several transactions may go in one flight (smtp_client_send_behind()). */
typedef struct Pipelining {
    int64_t span;          /* its begin */
    int64_t least, before; /* us: the shortest answer in this span, and in the one before; 0: none */
    unsigned out;          /* flights of several transactions under way; the session counts those that leave */
    bool proven;           /* the last of them came back whole */
    int64_t pause_until;
} Pipelining;

/* Limits of transactions and connections that it was found to have. Each is believed until its time; 0: unknown. */
typedef struct SizeLimits {
    unsigned recipients;   /* of a transaction */
    int64_t recipients_until;
    unsigned unlikely;     /* a small number that was taken once, and is believed when it is seen again */
    int64_t unlikely_until;
    unsigned transactions; /* of a connection */
    int64_t transactions_until;
} SizeLimits;

/* An entry that was put off because it waits for one destination, to be called back before it is due. */
typedef struct Parked {
    unsigned source; /* the index of its inbox (finish.h) */
    uint8_t hash[20];
    int64_t due;     /* clock_now() */
    int64_t arrival; /* of the mail */
} Parked;

typedef struct ParkedEntries {
    GArray *all;   /* of Parked, oldest first; NULL: none */
    guint most;    /* at this length, entries that are due by now are dropped */
    int64_t look;  /* clock_now(): they are not dropped before this time */
} ParkedEntries;

/* Read "COUNT/UNIT" (s, m, h, d), or "0" or "none" for no limit. FAIL_CONFIG: it is none of these. Write it so. */
bool rate_parse(const char *text, Rate *rate, GError **error);
char *rate_print(Rate rate); /* g_free() */
/* Fill the bucket for the time that has passed, and return the microseconds until something may be sent; 0: now. */
int64_t bucket_wait(Bucket *bucket, Rate rate, double burst, int64_t now);
/* Make a full bucket. */
static inline void bucket_init(Bucket *bucket, double burst, int64_t now)
{
    *bucket = (Bucket){MAX(burst, 1), now};
}

/* Return the learnt rate to keep; 0: there is none. Forget first what was learnt more than PACE_MEMORY ago. */
Rate pace_rate(Pace *pace, int64_t now);
/* Return true when the destination rests: nothing may go until rests_until, and then one recipient alone. */
static inline bool pace_rests(const Pace *pace)
{
    return pace->refusals > 0;
}

/* Take in that a transaction was answered after so long (us). */
void pipelining_observe(Pipelining *pipelining, int64_t took, int64_t now);
/* Return how many transactions the next flight may have; wanted is the site's wish, 0: none. */
unsigned pipelining_most(const Pipelining *pipelining, unsigned wanted, int64_t now);
/* Count a flight of several transactions that is over; whole: it was not broken off. */
void pipelining_end(Pipelining *pipelining, bool whole, int64_t now);

/* Remember an entry, unless PARKED_MAX are remembered; such a one comes when it is due. Times are of clock_now(). */
void parked_add(ParkedEntries *entries, const Parked *parked, int64_t now);
/* Return how many are not due yet. */
size_t parked_count(const ParkedEntries *entries, int64_t now);
/* Move all remembered entries to an array of Parked, and sort that by arrival. */
void parked_move(ParkedEntries *entries, GArray *to);
