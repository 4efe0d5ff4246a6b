/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read what a child says on its status pipe (base/contract.h), and find whether it has stalled. Nothing a child writes
 * can do harm: a line that is no line of the contract, or is too long, is counted as garbage and dropped. Nothing here
 * reads a clock or a descriptor: times (clock_monotonic(), microseconds) and bytes are passed in.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

typedef enum WatchLine { WATCH_READY, WATCH_BEAT, WATCH_NOTICE, WATCH_ANEW, WATCH_FAULT, WATCH_GARBAGE } WatchLine;

/* Classify one line without its line end. beat is filled for WATCH_BEAT. */
WatchLine watch_parse(const char *line, Beat *beat);

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

/* Do not count the silence until now, in which the child could not speak. */
void watch_excuse(Watch *watch, int64_t now);

/* Return whether the child was silent, or made no progress on a backlog, for half of timeout: `status` reports that. */
bool watch_stalled(const Watch *watch, int64_t timeout, int64_t now);

/* Return the time at which the child must be killed if nothing is heard before; a time that is not after now: at
 * once. */
int64_t watch_deadline(const Watch *watch, int64_t timeout);
