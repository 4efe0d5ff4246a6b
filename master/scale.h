/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide how many processes a runner should have, between [runner.NAME] min_instances and max_instances, where
 * instances is auto, and carry it out. They are doubled when entries wait and the processors have room, and stay
 * doubled only if that made the work quicker: work that waits for a disk or for another server does not get quicker by
 * more processes. They are halved when nothing has waited for a while and half of them could do the work. Each change
 * makes all of them begin anew, so changes are rare.
 *
 * The master looks at its children every [master] scale_interval, and decides by what it saw: scale_decide() reads no
 * clock and no process. Such a look is the unit in which spans of time are counted.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SCALE_GROW 3       /* looks in a row with old entries, before they are doubled */
#define SCALE_PROOF 6      /* looks, after that, over which the work is measured */
#define SCALE_GAIN 1.1     /* the least factor of speed that keeps them */
#define SCALE_PATIENCE 360 /* looks until it is tried again; doubled each time, up to */
#define SCALE_PATIENCE_MAX 8640
#define SCALE_SHRINK 60                 /* looks in a row without old entries, before they are halved */
#define SCALE_OLD (10 * G_USEC_PER_SEC) /* age of an entry that has waited */
#define SCALE_FALLING 0.95              /* of its age at the look before: the backlog is being worked off quickly */
#define SCALE_IDLE 0.3                  /* of a processor for each process that would be left */

/* ScaleLook is the result of a look at all processes together. */
typedef struct ScaleLook {
    unsigned instances;
    unsigned least, most; /* of instances, by the configuration */
    int64_t now;       /* us, monotonic */
    int64_t age;       /* us since the oldest entry was due; 0: nothing waits */
    uint64_t done;     /* since they began */
    int64_t processor; /* us of processor time since they began */
    unsigned processors;
    bool steady; /* all are ready, and no change is under way */
} ScaleLook;

typedef struct Scale {
    unsigned least, most;
    ScaleLook last;      /* instances 0: none */
    unsigned old, young; /* looks in a row */
    unsigned proof;      /* looks that are left of a proof; 0: none is under way */
    double before;       /* entries a second before the doubling */
    double speed;        /* entries a second, of the last looks on an old backlog */
    int64_t proof_since;
    uint64_t proof_done;
    unsigned wait, patience; /* looks until they may be doubled again, and how many that will be next time */
} Scale;

/* Take in a look and return how many processes there should be. A scale of zeroes, and one for which the configuration
 * has other limits than at the last look, begins anew. If that is another number than now, *why is the reason
 * for the log and for status, a constant string. */
unsigned scale_decide(Scale *scale, const ScaleLook *look, const char **why);

struct Master;
typedef struct Scaler Scaler;

/* Begin to look, by a timer in the master's loop. master is borrowed. */
Scaler *scale_new(struct Master *master);
void scale_free(Scaler *scaler); /* NULL is none */

/* Look next when [master] scale_interval has passed from now on. Call it after a reload that changed the interval. */
void scale_wait(Scaler *scaler);
