/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Run a queue runner: a program whose main is
 *
 *   int main(int argc, char **argv) { return runner_main(&spec, argc, argv); }
 *
 * The skeleton reads the configuration, opens the spool, recovers its slice and tells the master that it is ready. Then
 * it claims batches of entries, passes each entry to handle(), commits the outcomes (hop.h), reports to the master, and
 * sleeps until inotify or a due time wakes it. It knows no mail and no database. It is installed with the switchboard's
 * headers, so that a runner can be written outside this tree; see listrunner-runner(7).
 *
 * All callbacks run in one thread. When handle() fails with FAIL_LATER or FAIL_RACE, the entry is put back, due again
 * after a back-off that doubles with each try (1 s to 5 min). Any other code moves it to shunt with the error's text,
 * in metadata "fault". A crash repeated RECOVER_CRASHES_LIMIT times sets it aside in its own queue, as .psv: within
 * handle() and finish() the entry in hand is charged with it. An entry that is alone in hand is charged from the first
 * handle() to the end of committed(); with a crash in begin_batch() or idle() no entry is. After a crash that left
 * several in hand they are handled alone.
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

/* A runner with begin_batch() keeps others waiting while it handles a batch, for a database for instance. Its batches
 * are therefore bounded: no more entries are claimed once their messages have this many bytes, and once a batch has
 * been handled for this many microseconds, at least one entry of it, the rest goes back as it was. */
#define RUNNER_BATCH_OCTETS ((size_t)16 << 20)
#define RUNNER_BATCH_US INT64_C(1000000)

typedef struct RunnerSpec {
    const char *name;  /* for the log and the usage text */
    const char *queue; /* NULL: [runner.NAME] queue, or the runner's name */
    bool durable_claim; /* sync the claim before handle(), because its work is felt outside */
    bool (*start)(Runner *runner, GError **error);
    /* Called before the first and after the last handle() of a batch, for one transaction of a database. When
     * end_batch() fails, all entries of the batch are put back. Both may be NULL. */
    bool (*begin_batch)(Runner *runner, GError **error);
    bool (*handle)(Runner *runner, Entry *entry, Outcome *outcome, GError **error);
    bool (*end_batch)(Runner *runner, GError **error);
    /* Called after end_batch() for each entry whose handle() succeeded and that neither waits nor was taken, to
     * complete the outcome with what the transaction has produced, such as a number. It fails as handle() does, for
     * this entry alone. It is not called for an entry to whose outcome end_batch() gave an error. May be NULL. */
    bool (*finish)(Runner *runner, Entry *entry, Outcome *outcome, GError **error);
    /* Called after each batch, for effects outside that may only follow its commit; also after a batch that failed. An
     * outcome that has an error now was not committed, and its entry comes again. */
    void (*committed)(Runner *runner);
    /* Called when nothing is ready. Returns the microseconds until it wants to be called again, or -1. */
    int64_t (*idle)(Runner *runner);
    void (*stop)(Runner *runner);
} RunnerSpec;

int runner_main(const RunnerSpec *spec, int argc, char **argv);

const char *runner_name(const Runner *runner); /* of [runner.NAME] */
Slice runner_slice(const Runner *runner);
const Config *runner_config(const Runner *runner);
Spool *runner_spool(Runner *runner);
const char *runner_queue(const Runner *runner); /* the name of the queue that it works */

/* For handle(), in place of adding drafts: let the entry wait. When the batch is committed, and the file of
 * runner_sync_along() is on the disk, it is put back into its queue, due at that time. */
void runner_wait(Runner *runner, Outcome *outcome, int64_t due);

/* For handle(): find the entry of this queue and slice with that hash, so that it can be read. It may be of the batch
 * in hand; else it is claimed now, due or not. due is the time that its name is expected to have. *entry is borrowed
 * until the next call, and NULL when there is none. */
bool runner_find(Runner *runner, const uint8_t hash[HASH_SIZE], int64_t due, Entry **entry, GError **error);

/* Call one of these for each entry found. runner_take() lets the outcome take it, because the children contain what it
 * held (outcome_take()); an entry of the batch in hand is not handled then. When the outcome is not committed, what it
 * took waits as before. runner_leave() puts it back, due at that time or, with 0, as it was. */
void runner_take(Runner *runner, Outcome *outcome, const uint8_t hash[HASH_SIZE]);
bool runner_leave(Runner *runner, const uint8_t hash[HASH_SIZE], int64_t due, GError **error);

/* One place for the runner's own state. */
void runner_set_data(Runner *runner, void *data);
void *runner_data(const Runner *runner);

/* Sync another file with each batch's children, before the commit: the log of a database whose commits do not wait for
 * the disk. fd is borrowed. Call it from start(). */
void runner_sync_along(Runner *runner, int fd);

/* From start(): ask whether what all the work needs, such as the server of a database, cannot be reached. While it
 * cannot, no entry is claimed, so none is late for that, idle() is not called, and away() is asked again each second.
 * It tells the log and the master itself. */
void runner_pause_while(Runner *runner, bool (*away)(Runner *runner));

/* Tell the master that a handler which works long on one entry makes progress, so that it is not taken for stalled.
 * Cheap; call it often. */
void runner_progress(Runner *runner);

/* True once SIGTERM was received: a long handler may give up with FAIL_LATER. */
bool runner_stopping(const Runner *runner);

/* Both, for what waits long and asks now and then whether it may go on: makes progress; false once SIGTERM was
 * received. */
bool runner_alive(void *runner);
