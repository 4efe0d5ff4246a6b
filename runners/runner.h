/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The skeleton of a queue runner: a program whose main is
 *
 *   int main(int argc, char **argv) { return runner_main(&spec, argc, argv); }
 *
 * The skeleton reads the configuration, opens the spool, recovers its slice,
 * says ready to the master, and then claims batches of entries, hands each to
 * handle(), commits the outcomes (hop.h), beats, and sleeps until inotify or
 * a due time wakes it. It knows no mail and no database. Installed with the switchboard's
 * headers, so that a runner can be written outside this tree; see
 * listrunner-runner(7).
 *
 * All callbacks run in one thread. When handle() fails with FAIL_LATER or FAIL_RACE, the entry is put back, due again
 * after a back-off that doubles with each try (1 s to 5 min). Any other code moves it to shunt with the error's text,
 * in metadata "fault". A crash repeated RECOVER_CRASHES_LIMIT times sets it aside in its own queue, as .psv.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "switchboard/draft.h"
#include "switchboard/entry.h"
#include "switchboard/hop.h"
#include "switchboard/slice.h"
#include "switchboard/spool.h"

typedef struct Runner Runner;

/* A runner with begin_batch() holds something that others wait for, such as a database, while it handles a batch. A
 * batch is claimed until its messages hold this many octets, and ends (what is left goes back as it was) once it
 * has been handled for so long: never before its first entry. */
#define RUNNER_BATCH_OCTETS ((size_t)16 << 20)
#define RUNNER_BATCH_US INT64_C(1000000)

typedef struct RunnerSpec {
    const char *name;  /* for the log and the usage text */
    const char *queue; /* NULL: [runner.NAME] queue, or the runner's name */
    bool durable_claim; /* its work is felt outside: sync the claim first */
    bool (*start)(Runner *runner, GError **error);
    /* Before the first and after the last handle() of a batch: a place for
     * one database transaction. When end_batch fails all entries of
     * the batch are put back; both may be NULL. */
    bool (*begin_batch)(Runner *runner, GError **error);
    bool (*handle)(Runner *runner, Entry *entry, Outcome *outcome, GError **error);
    bool (*end_batch)(Runner *runner, GError **error);
    /* After end_batch, for each entry whose handle() succeeded and that neither waits nor was taken: finishes the
     * outcome with what only that transaction could tell (a number, say). Fails as handle() does, for this entry alone.
     * May be NULL. end_batch may give the outcome of an entry an error, too; finish() is not called for it then. */
    bool (*finish)(Runner *runner, Entry *entry, Outcome *outcome, GError **error);
    /* After each batch: outside effects that may only follow its commit. Called after a batch that failed, too; an
     * outcome of handle() that has an error now was not committed, and its entry comes again. */
    void (*committed)(Runner *runner);
    /* Nothing is ready: returns microseconds until it wants to be called
     * again, or -1. */
    int64_t (*idle)(Runner *runner);
    void (*stop)(Runner *runner);
} RunnerSpec;

int runner_main(const RunnerSpec *spec, int argc, char **argv);

const char *runner_name(const Runner *runner); /* of [runner.NAME] */
Slice runner_slice(const Runner *runner);
const Config *runner_config(const Runner *runner);
Spool *runner_spool(Runner *runner);

/* For handle(), instead of drafts: nothing becomes of the entry yet. When the batch is committed (and the file of
 * runner_sync_along() is on the disk) it is put back into its queue, due at that time. */
void runner_wait(Runner *runner, Outcome *outcome, int64_t due);

/* For handle(): the entry of this queue and slice with that hash, to be read: one of the batch in hand, or one that
 * is claimed now though it may not be due yet; due is where its name is expected. Borrowed until the next call.
 * *entry is NULL when there is none. */
bool runner_find(Runner *runner, const uint8_t hash[HASH_SIZE], int64_t due, Entry **entry, GError **error);

/* Then, for each entry found: taken by outcome, whose children contain what it held (outcome_take()), or put back, due
 * at that time or, with 0, as it was. One of the batch in hand is not handled (any more) when it was taken. When the
 * outcome is not committed, what it took waits again as before. */
void runner_take(Runner *runner, Outcome *outcome, const uint8_t hash[HASH_SIZE]);
bool runner_leave(Runner *runner, const uint8_t hash[HASH_SIZE], int64_t due, GError **error);

/* One place for the runner's own state. */
void runner_set_data(Runner *runner, void *data);
void *runner_data(const Runner *runner);

/* Another file to sync with each batch's children, before the commit: the
 * log of a database whose commits do not wait for the disk. Borrowed. Called from start(). */
void runner_sync_along(Runner *runner, int fd);

/* For a handler that works long on one entry: tells the master that it
 * moves, so that it is not taken for stalled. Cheap; call it often. */
void runner_progress(Runner *runner);

/* True once SIGTERM was received: a long handler may give up with FAIL_LATER. */
bool runner_stopping(const Runner *runner);
