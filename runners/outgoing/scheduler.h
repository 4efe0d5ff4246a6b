/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Who is next on one transport. A job is what one delivery has for it; a peer, what a job has for one destination: a
 * queue of batches. Jobs stand in a list by age, except that one that preempts another stands right before it. Each
 * destination keeps its peers in the order of their jobs, and the destinations that have room stand in the order of
 * their first peers' jobs. So the next batch is that of the oldest job for which any destination has room, and among
 * that job's destinations the one served longest ago; it is found without looking at what cannot go, however much
 * that is.
 *
 * Preemption, as the Postfix queue manager does it: each batch of a job earns it one delivery slot; for slot_cost of
 * them a younger, small job may go first, with slot_loan on credit and slot_discount percent off the price asked in
 * advance (it is paid in full afterwards). Jobs of fewer than minimum_slots * slot_cost batches are not preempted.
 *
 * A favoured job (mail of our own: somebody waits for it) goes before all that are not, but no more than
 * SCHEDULER_FAVOUR of them for each batch of the first that is not: so bulk keeps a share, and those beyond it take
 * their turn as any small job does.
 *
 * Pure: times are passed in, and what a batch holds is not looked at but for its count.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/outgoing/batch.h"
#include "runners/outgoing/destination.h"

#define SCHEDULER_FAVOUR 4

typedef struct SchedulerSettings {
    unsigned slot_cost;     /* 0, 1: no preemption */
    unsigned slot_loan;
    unsigned slot_discount; /* percent */
    unsigned minimum_slots;
} SchedulerSettings;

typedef struct Scheduler {
    SchedulerSettings settings;
    GQueue jobs;        /* of Job, in order */
    GSequence *ready;   /* of Destination: with room and batches */
    GSequence *asleep;  /* of Destination: dead, or with batches for which room comes with time */
    GHashTable *alive;  /* set of Job: for candidates that were remembered */
    uint64_t turns;
    size_t waiting;     /* batches */
    void (*was_cut)(Batch *rest); /* told of what was cut off a batch and waits in its place; NULL: nobody is */
} Scheduler;

typedef struct Job {
    Scheduler *scheduler;
    void *owner;        /* the delivery */
    struct Transport *transport; /* not looked at */
    bool favoured;
    size_t overtaken;   /* by favoured ones */
    uint64_t rank;      /* order in the list */
    GList link;
    GQueue peers;       /* of Peer: with batches waiting */
    size_t read;        /* batches made of recipients in memory so far */
    size_t unread;      /* batches that the recipients not yet read may make: an upper bound */
    size_t selected;
    int64_t available, used; /* slots */
    struct Job *parent; /* whom it preempted */
    GQueue children;    /* of Job */
    GList child;        /* in parent's */
    bool adopted;       /* its parent is not the one it preempted */
    unsigned level;
    int64_t queued;     /* clock_steady() */
    struct Job *candidate; /* as found at `looked` */
    int64_t looked;
} Job;

typedef struct Peer {
    Job *job;
    Destination *destination;
    GSequenceIter *place; /* in the destination */
    GList link;           /* in the job */
    GQueue batches;       /* of Batch, waiting */
} Peer;

void scheduler_init(Scheduler *scheduler, const SchedulerSettings *settings);
void scheduler_clear(Scheduler *scheduler);

/* The job's place is by `queued`, and by `favoured`, which is set before; it must have none yet. */
void scheduler_add_job(Scheduler *scheduler, Job *job, void *owner, int64_t queued);
/* Takes it out; no batch of it may wait. */
void scheduler_retire(Job *job);

/* The batch waits for its destination. new: it counts as one more of the job (else it was out and comes back, to
 * be the next). */
void scheduler_add_batch(Job *job, Destination *destination, Batch *batch, bool new, int64_t now);

/* The last batch of the job for the destination that still has room, NULL when there is none: more recipients of
 * the same kind may be added to it. */
Batch *scheduler_open_batch(const Job *job, const Destination *destination);

/* One more for such a batch. */
void scheduler_extend(Batch *batch, Destination *destination, const Recipient *recipient);

/* The destination whose turn it is, NULL when nothing can go. */
Destination *scheduler_front(const Scheduler *scheduler);
/* Whether the other one may as well be served before it: what waits there first is of the same job. */
bool scheduler_equals(const Destination *front, const Destination *other);

/* The next batch to go, NULL when nothing can; one with more recipients than the destination takes at a time is cut.
 * from: the front (or NULL), or one that equals it. The batch counts as busy at its destination, which is another one
 * when the job is overtaken. */
Batch *scheduler_next(Scheduler *scheduler, Destination *from, Destination **destination, int64_t now);

/* What the destination has no room for goes with one that is on its way there: the next of it, NULL when there is
 * nothing, or when it should not get more than one at a time. */
Batch *scheduler_behind(Destination *destination, int64_t now);
/* It does. It does not count as busy. */
void scheduler_take_behind(Scheduler *scheduler, Destination *destination, Batch *batch, int64_t now);

/* Something about the destination has changed: looks whether it has room. */
void scheduler_look(Scheduler *scheduler, Destination *destination, int64_t now);

/* Looks at those whose time has come; returns when to come again, 0: no time is known. */
int64_t scheduler_wake(Scheduler *scheduler, int64_t now);

/* Takes what waits for the destination (of nexthop alone, unless that is NULL) away from it and appends it to taken,
 * by the batches' own links, in its order. */
void scheduler_take(Scheduler *scheduler, Destination *destination, const struct Nexthop *nexthop, GQueue *taken,
                    int64_t now);

/* Any batch of the job that waits; NULL when none does. */
Batch *scheduler_take_of(Job *job, Destination **destination, int64_t now);
