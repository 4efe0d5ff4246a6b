/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide which batch goes next on one transport. A job holds all batches of one delivery for the transport; a peer
 * holds those of a job for one destination, in a queue. Jobs stand in a list by age, except that a job that preempts
 * another stands right before it. Each destination keeps its peers in the order of their jobs, and the destinations
 * that have room stand in the order of their first peers' jobs. So the next batch is of the oldest job for which any
 * destination has room. Among that job's destinations with room, the one served longest ago has its turn. It is found
 * without looking at batches that cannot go.
 *
 * Preemption works as in the queue manager of Postfix: each batch of a job earns it one delivery slot. For slot_cost
 * slots a younger, small job may go first. slot_loan slots of these may be borrowed, and slot_discount percent of the
 * price need not be there in advance, though it is paid in full afterwards. Jobs of fewer than minimum_slots *
 * slot_cost batches are not preempted.
 *
 * A favoured job (mail of our own, for which somebody waits) goes before all other jobs. But after SCHEDULER_FAVOUR
 * batches of favoured jobs one batch of the first other job goes, so that bulk mail keeps a share.
 *
 * The scheduler only calculates: times are passed in, and it reads nothing of a batch but its count.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/outgoing/delivery.h"
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
    GQueue changed;     /* of Destination: to look at again before anything is decided (destination.h) */
    GSequence *asleep;  /* of Destination: dead, or with batches for which room comes with time */
    GHashTable *alive;  /* set of Job: for candidates that were remembered */
    uint64_t turns;
    size_t waiting;     /* batches */
    void (*was_cut)(Batch *rest); /* called with the rest that was cut off a batch and waits in its place; or NULL */
} Scheduler;

typedef struct Job {
    Scheduler *scheduler;
    void *owner;        /* the delivery */
    struct Transport *transport; /* the scheduler does not read it */
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

/* Add a job that is not in the list yet. Its place follows from `queued` and from `favoured`, which the caller sets. */
void scheduler_add_job(Scheduler *scheduler, Job *job, void *owner, int64_t queued);
/* Remove a job of which no batch waits. */
void scheduler_retire(Job *job);

/* Let a batch wait for its destination. new: it counts as one more of the job; else it was under way and comes back as
 * the job's next one. */
void scheduler_add_batch(Job *job, Destination *destination, Batch *batch, bool new, int64_t now);

/* Return the job's last batch for the destination if more recipients of the same kind may be added to it, which are
 * counted in destination->waiting_recipients; else NULL. */
Batch *scheduler_open_batch(const Job *job, const Destination *destination);

/* Return the destination whose turn it is; NULL when nothing can go. */
Destination *scheduler_front(Scheduler *scheduler, int64_t now);
/* Return true when the other destination may be served before the front one, because its first batch is of the same
 * job. */
static inline bool scheduler_equals(const Destination *front, const Destination *other)
{
    return other->queue.ready && other->queue.first == front->queue.first;
}

/* Take the next batch, which counts as busy at *destination from now on; NULL when nothing can go. A batch with more
 * recipients than the destination takes at a time is cut. from is the front, NULL for the same, or a destination that
 * equals it. *destination differs from it when another job overtakes. */
Batch *scheduler_next(Scheduler *scheduler, Destination *from, Destination **destination, int64_t now);

/* Return the next batch that may be pipelined to the destination over a connection in use, beyond its room; NULL when
 * nothing waits, or when the destination should get one at a time. */
Batch *scheduler_behind(Destination *destination, int64_t now);
/* Take the batch of scheduler_behind() from the queue. It does not count as busy. */
void scheduler_take_behind(Destination *destination, Batch *batch, int64_t now);

/* Look at the destinations whose time has come. Return when to call again; 0 when no time is known. */
int64_t scheduler_wake(Scheduler *scheduler, int64_t now);

/* Move the batches that wait for the destination to taken, in their order and by their own links. nexthop: move only
 * its batches; NULL: all. */
void scheduler_take(Destination *destination, const struct Nexthop *nexthop, GQueue *taken);

/* Take any waiting batch of the job; NULL when none waits. */
Batch *scheduler_take_of(Job *job, Destination **destination);
