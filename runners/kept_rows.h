/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The rows of lists/kept.h, for a runner whose entries leave letters with tokens behind. A row serves an entry that
 * comes again after a crash; once the entry's hop is committed it is dropped, before the next batch or while the runner
 * is idle. Rows that a killed process left are dropped when the next one starts. A row that cannot be dropped stays for
 * the timer.
 *
 * Put kept_rows_begin() and kept_rows_committed() into the RunnerSpec as they are. list_runner_stop() ends it.
 */
#include <glib.h>
#include <stdbool.h>

#include "runners/list_runner.h"

/* Read the spool's key for work_keep(), and drop the rows of entries that are gone. Call it from start(), behind
 * list_runner_start(). */
bool kept_rows_start(Runner *runner, GError **error);

/* Note that an entry of the batch in hand has rows with this key, which are needed until its outcome is committed. */
void kept_rows_note(ListRunner *own, const char *key, const Outcome *outcome);

bool kept_rows_begin(Runner *runner, GError **error); /* with list_runner_refresh() */
void kept_rows_committed(Runner *runner);

/* Drop what is needed no more; a failure is logged. For idle(). */
void kept_rows_idle(Runner *runner);

/* The same, in silence, and free the rest. */
void kept_rows_end(ListRunner *own);
