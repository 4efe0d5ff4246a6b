/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Shared by runner.c (the loop, batches, failures) and runner_take.c (entries beyond the one in hand).
 */
#include "base/child.h"
#include "runners/process.h"
#include "runners/runner.h"
#include "switchboard/claim.h"

/* The fate of one entry of the batch, beyond its Outcome. */
typedef struct EntryFate {
    int64_t wait;   /* not 0: the entry is put back, due then */
    Outcome *taker; /* the outcome of another entry, which takes this one; NULL: none does */
    bool freed;     /* that outcome was not committed, so the entry is not taken */
    bool settled;   /* shunt() has dealt with the entry, which failed for good */
    bool canary;    /* META_CANARY: it is not handled */
} EntryFate;

/* An entry beyond the batch that handle() asked for. */
typedef struct Found {
    EntryName name;
    Outcome *taker;
} Found;

struct Runner {
    const RunnerSpec *spec;
    const Child *child;
    Slice slice;
    const Config *config;
    Spool *spool;
    Inbox *inbox;
    Hop *hop;
    void *data;
    GHashTable *delays; /* hash of an entry put back -> its last delay, us */
    uint64_t late;      /* entries whose last delay is LATE_DELAY or more */
    size_t batch_limit, batch_size; /* the most entries of a batch; the most of the next one */
    void *need;                   /* runner_need(), as the next two, which may be NULL */
    bool (*away)(void *need);
    bool (*keep)(void *need, GError **error);
    int64_t away_until;           /* monotonic: when away() is asked again; 0: it returned false */
    int64_t heartbeat_us;
    int64_t beat_at, sweep_at, intake_at, settle_at; /* monotonic: when each is due next */
    uint64_t progress, done;                         /* for child_beat() (base/child.h) */
    const char *holding; /* for child_beat(): the text of the entry that is held longest; NULL: none */
    Outcome **batch; /* in hand; NULL: none */
    EntryFate *fates;
    GArray *found;   /* of Found: claimed beyond the batch, not settled yet */
    Entry *looked_at; /* the last entry that runner_find() claimed */
    Entry *alone;    /* the only one in hand, charged with a crash until it is settled; NULL: several are, or none */
    size_t suspects; /* entries to be handled one at a time: one of them may have ended the process before */
    size_t in_batch;
    size_t backlog; /* as counted at counted_at */
    int64_t oldest, counted_at;
};

/* End the process, because it is unknown what is on the disk. Recovery at the next start settles it. */
void runner_die(const char *doing, GError *error) G_GNUC_NORETURN;

/* runner_take.c */

/* Let the entries that a failed outcome took be taken or handled again. */
void take_undo(Runner *runner, Outcome *outcome);
/* After a commit: put back the entries found beyond the batch, but for those whose taker was committed. Where that
 * fails, the process ends by runner_die(). */
void take_settle(Runner *runner);
