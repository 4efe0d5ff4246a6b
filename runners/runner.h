/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Run a queue runner: a program whose main is
 *
 *   int main(int argc, char **argv) { return runner_main(&spec, argc, argv); }
 *
 * The skeleton reads the configuration, opens the spool, recovers its slice and tells the master that it is ready. Then
 * it claims batches of entries, passes each entry to handle(), commits the outcomes (hop.h) and reports to the master.
 * When nothing is due, it sleeps until inotify or a due time wakes it. It knows no mail and no database. It is
 * installed with the switchboard's headers, so that a runner can be written outside this tree; see
 * listrunner-runner(7).
 *
 * All callbacks run in one thread. When handle() fails with FAIL_LATER or FAIL_RACE, the entry is put back, due again
 * after a back-off that doubles with each try (1 s to 5 min). Any other code moves the entry to the queue shunt, with
 * the error's text in metadata "fault".
 *
 * A crash of the process is charged to the entry whose handle() or finish() was running. An entry that is alone in its
 * batch is charged from handle() to the end of committed(); a crash in begin_batch() or idle() is charged to no entry.
 * After RECOVER_CRASHES_LIMIT crashes the entry is set aside in its own queue, as .psv. After a crash that
 * left several entries in hand and charged none, each of them is handled alone.
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

/* A runner with begin_batch() or end_batch() keeps others waiting while it handles a batch, for a database for
 * instance. Its batches are therefore bounded. No more entries are claimed once their messages have RUNNER_BATCH_OCTETS
 * bytes. Once a batch has been handled for RUNNER_BATCH_US microseconds, and at least one entry of it, the rest goes
 * back as it was. */
#define RUNNER_BATCH_OCTETS ((size_t)16 << 20)
#define RUNNER_BATCH_US INT64_C(1000000)

#define RUNNER_WAIT_MAX (2 * INT64_C(3600000000))

typedef struct RunnerSpec {
    const char *name;  /* for the log and the usage text */
    const char *queue; /* NULL: [runner.NAME] queue, or the runner's name */
    bool durable_claim; /* sync the claim before handle(), because handle() does work that is felt outside */
    /* No entry is put off for longer than that (us; RUNNER_WAIT_MAX is enough for runner_wait() and faults): one
     * that is due later was put off while the clock was ahead, and is ready. 0: entries may wait for any time. */
    int64_t longest_wait;
    /* Get ready. When it fails, the process ends, after stop(). May be NULL. */
    bool (*start)(Runner *runner, GError **error);
    /* Called before the first and after the last handle() of a batch, for one transaction of a database. When
     * end_batch() fails, all entries of the batch are put back. Both may be NULL. */
    bool (*begin_batch)(Runner *runner, GError **error);
    /* Decide about one entry: add drafts to its outcome, or fail. With no draft the entry ends. */
    bool (*handle)(Runner *runner, Entry *entry, Outcome *outcome, GError **error);
    bool (*end_batch)(Runner *runner, GError **error);
    /* Called after end_batch() for each entry whose handle() succeeded and that neither waits nor was taken, to
     * complete the outcome with what the transaction has produced, such as a number. It fails as handle() does, for
     * this entry alone. It is not called for an entry to whose outcome end_batch() gave an error. May be NULL. */
    bool (*finish)(Runner *runner, Entry *entry, Outcome *outcome, GError **error);
    /* Called after each batch, also one that failed, for effects outside that may only follow its commit. An outcome
     * that has an error now was not committed: its entry comes again, or is in shunt. May be NULL. */
    void (*committed)(Runner *runner);
    /* Called when nothing is ready. Returns the microseconds until it wants to be called again; -1: it need not
     * be. May be NULL. */
    int64_t (*idle)(Runner *runner);
    /* Free what start() made, all of it or a part: it is called after a start() that failed, too. May be NULL. */
    void (*stop)(Runner *runner);
} RunnerSpec;

/* Run the program until SIGTERM, and return its exit code (base/contract.h). */
int runner_main(const RunnerSpec *spec, int argc, char **argv);

const char *runner_name(const Runner *runner); /* of [runner.NAME] */
Slice runner_slice(const Runner *runner);
const Config *runner_config(const Runner *runner);
Spool *runner_spool(Runner *runner);
const char *runner_queue(const Runner *runner); /* the name of the queue that it works */

/* For handle(), in place of adding drafts: let the entry wait. When the batch is committed, and the file of
 * runner_sync_along() is on the disk, it is put back into its queue, due at that time. */
void runner_wait(Runner *runner, Outcome *outcome, int64_t due);

/* For handle(): find another entry of this queue and slice by its hash, so that it can be read. It may be of the batch
 * in hand; else it is claimed now, due or not. due is the time that its name is expected to have. *entry is borrowed
 * until the next call of runner_find() or runner_leave(); NULL: there is no such entry. FAIL_LATER: another outcome of
 * this batch has taken it, or it has failed. */
bool runner_find(Runner *runner, const uint8_t hash[HASH_SIZE], int64_t due, Entry **entry, GError **error);

/* Call runner_take() or runner_leave() for each entry that was found. runner_take() ends the found entry together with
 * the outcome, whose children contain what it held (outcome_take()); an entry of the batch in hand is then not handled.
 * When the outcome is not committed, the taken entries go back as they were. */
void runner_take(Runner *runner, Outcome *outcome, const uint8_t hash[HASH_SIZE]);
/* Put a found entry back, due at that time or, with 0, as it was. An entry of the batch in hand stays there; only if it
 * waits by runner_wait(), its time becomes due. */
bool runner_leave(Runner *runner, const uint8_t hash[HASH_SIZE], int64_t due, GError **error);

/* One place for the runner's own state. */
void runner_set_data(Runner *runner, void *data);
void *runner_data(const Runner *runner);

/* Sync another file with each batch's children, before the commit: the log of a database whose commits do not wait for
 * the disk. fd is borrowed. Call it from start(). */
void runner_sync_along(Runner *runner, int fd);

/* Call it from start() to name something that all the work needs, such as a database. need is borrowed, and passed to
 * both functions. away() returns true while it cannot be reached, such as a server; then no entry is claimed, idle() is
 * not called, and away(), which itself has to say so in the log, is asked again each second. keep() is called before
 * begin_batch(), and fails as that does. */
void runner_need(Runner *runner, void *need, bool (*away)(void *need), bool (*keep)(void *need, GError **error));

/* Tell the master that a handler which works long on one entry makes progress, so that it is not taken for stalled.
 * Cheap; call it often. */
void runner_progress(Runner *runner);

/* Return true once SIGTERM was received: a long handler may give up with FAIL_LATER. */
bool runner_stopping(const Runner *runner);

/* Call runner_progress(), and return false once SIGTERM was received: for a function that waits long and asks by a
 * callback whether it may go on. runner is a Runner. */
bool runner_alive(void *runner);
