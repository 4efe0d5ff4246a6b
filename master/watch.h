/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Judge a child: read what it says on its status pipe (base/contract.h), find whether it has stalled, tell in words how
 * it ended, and decide when it is started again. Nothing a child writes can do harm: a line that is no line of the
 * contract, or is too long, is counted as garbage and dropped.
 *
 * Nothing here reads a clock or a descriptor: times (clock_monotonic() where nothing else is said, microseconds) and
 * bytes are passed in.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/delays.h"

#define WATCH_LINE_MAX CHILD_LINE_MAX

typedef struct Beat {
    uint64_t progress, done, backlog;
    uint64_t late; /* entries that could not be handled several times */
    int64_t oldest; /* due time of the oldest entry, microseconds; 0: none */
    char holding[160]; /* empty: none */
    Delays delays;     /* since its start */
    bool charged;      /* if a signal kills the child now, the entry in `holding` is charged with it */
} Beat;

typedef struct Watch {
    GString *pending; /* the beginning of a line whose end has not come */
    bool skipping;    /* inside a line that is too long */
    Beat beat;
    char *notice;        /* the last "notice TEXT"; NULL: none, or it is over */
    char *anew;          /* the last "anew TEXT": why a new process is wanted; NULL: none is */
    char *fault;         /* the last "fault TEXT" */
    unsigned garbage;    /* lines dropped */
    int64_t spoke;       /* last sensible line, or the start */
    int64_t moved;       /* last rise of progress, or the last time it had nothing to do */
    int64_t beaten;      /* last beat; 0: none yet */
} Watch;

void watch_init(Watch *watch, int64_t now);
void watch_clear(Watch *watch);

/* Take what was read from the pipe, in any pieces. True when "ready" was among it. */
bool watch_feed(Watch *watch, const char *data, size_t length, int64_t now);

/* Return whether the child was silent, or made no progress on a backlog, for half of timeout: `status` reports that. */
bool watch_stalled(const Watch *watch, int64_t timeout, int64_t now);

/* Return the time at which the child must be killed if nothing is heard before; a time that is not after now: at
 * once. */
int64_t watch_deadline(const Watch *watch, int64_t timeout);

/* Describe the end of a child for people: "exit 75 (the system's fault, may pass): TEXT"; g_free(). status is that of
 * waitpid(); fault is the last "fault TEXT" of the child, NULL: none. */
char *watch_exit_text(int status, const char *fault);

/*
 * How long a dead child waits before it is started again. The first death is answered at once; then the delay doubles
 * from min to max as long as the child keeps dying before it has lived `quiet`. Deaths that an entry is charged with
 * (base/contract.h) are few for each entry, and other entries wait behind it. So such a death is answered at once when
 * something got done before, else after min.
 */
typedef struct ThrottleLimits {
    int64_t min, max, quiet;
} ThrottleLimits;

typedef struct Throttle {
    unsigned streak; /* deaths since the last life that was good */
} Throttle;

typedef enum ThrottleDeath {
    DEATH_OTHER,
    DEATH_CHARGED, /* to an entry, before anything was done */
    DEATH_AT_WORK, /* to an entry, after others were done */
    DEATH_RENEWAL, /* the child left to be started anew: no death at all, unless it lived shorter than min */
} ThrottleDeath;

/* Count a death after a life of `lived` and return the delay. */
int64_t watch_delay(Throttle *throttle, const ThrottleLimits *limits, int64_t lived, ThrottleDeath death);

/*
 * Whether the wall clock was set back. Entries that were put off before are due by the old clock, so each waits longer
 * by as much as the clock was set back. Once that much time has passed, the change is over.
 */
typedef struct ClockBack {
    int64_t offset; /* the largest known of wall - monotonic; 0: none is known */
    int64_t since;  /* since when wall - monotonic is less by CLOCK_BACK_MIN or more; 0: it is not less */
} ClockBack;

#define CLOCK_BACK_MIN (60 * CLOCK_SECOND)

/* Call it again and again with the time that both clocks show. Return by how many microseconds the wall clock was set
 * back, as long as less time than that has passed since; else 0. Less than CLOCK_BACK_MIN counts as 0. */
int64_t watch_clock(ClockBack *back, int64_t wall, int64_t monotonic);
