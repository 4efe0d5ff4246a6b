/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Group commit: threads that make the messages of all sessions durable
 * together. Each takes whatever is ready when its group before is on the
 * disk, and never waits for more; meanwhile the loop receives the next group.
 * What a turn of the loop brings is handed over at its end, so that it can be one group.
 *
 * A job belongs to the Commit from commit_submit() until commit_take()
 * returns it. All functions are called by the loop's thread.
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

/* directory: of the spool. limit: entries in a group (one job may exceed it). */
Commit *commit_new(const char *directory, size_t limit, GError **error);
void commit_free(Commit *commit); /* after the last job was taken back */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Commit, commit_free)

void commit_submit(Commit *commit, CommitJob *job);
void commit_start(Commit *commit); /* what was submitted; called at the end of each turn that submitted anything */

/* Readable when there are jobs to take back; a take that returns NULL makes it
 * unreadable again. */
int commit_fd(const Commit *commit);
CommitJob *commit_take(Commit *commit);

/* Jobs submitted and not taken back. */
size_t commit_pending(const Commit *commit);
