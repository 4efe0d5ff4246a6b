/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Store the messages of all sessions in groups, by threads that share the syncs among a group (group commit). When a
 * thread's group is on the disk, it takes all jobs that are ready by then as its next group, and never waits for more.
 * Meanwhile the loop receives further messages. The loop hands over the jobs of a turn at the turn's end, so that they
 * can be one group.
 *
 * A job belongs to the Commit from commit_submit() until commit_take() returns it. All functions are called by the
 * loop's thread.
 */
#include <glib.h>
#include <stddef.h>

#include "switchboard/intake.h"
#include "switchboard/spool.h"

typedef struct CommitJob {
    Intake *entries; /* the caller's; error is set for those that failed */
    size_t count;
    void *data;
} CommitJob;

typedef struct Commit Commit;

/* Make a Commit. directory is that of the spool, limit the most entries in a group (one job may exceed it). */
Commit *commit_new(const char *directory, size_t limit, GError **error);
void commit_free(Commit *commit); /* after the last job was taken back */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Commit, commit_free)

/* Add a job to the ones that commit_start() hands over. */
void commit_submit(Commit *commit, CommitJob *job);
/* Hand the submitted jobs to the threads. Call it at the end of each turn of the loop that submitted any. */
void commit_start(Commit *commit);

/* Return the descriptor that is readable when there are jobs to take back. */
int commit_fd(const Commit *commit);
/* Take back one job that is stored or has failed. NULL: there are no more, and the descriptor is no longer readable. */
CommitJob *commit_take(Commit *commit);

/* Return how many jobs were submitted and not taken back. */
size_t commit_pending(const Commit *commit);
