/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep letters in rows of the store (lists/kept.h), for a runner whose entries write letters with tokens. When an entry
 * comes again after a crash, the same letters are read from its rows. Once the entry's hop is committed, its rows are
 * dropped, before the next batch or while the runner is idle. Rows that a killed process left are dropped when the next
 * one starts. A row that cannot be dropped stays for the timer.
 *
 * Put kept_rows_begin() and kept_rows_committed() into the RunnerSpec as they are. list_runner_stop() calls
 * kept_rows_end().
 */
#include <glib.h>
#include <stdbool.h>

#include "runners/posts/list_runner.h"

/* Read the spool's key for work_keep(), and drop the rows of entries that are gone. Call it from start(), behind
 * list_runner_start(). */
bool kept_rows_start(Runner *runner, GError **error);

/* Note, in handle(), that the outcome's entry has rows with this key, which are needed until the outcome is
 * committed. */
void kept_rows_note(ListRunner *own, const char *key, const Outcome *outcome);

/* Begin a batch: call list_runner_refresh(), and drop the rows that are needed no more. */
bool kept_rows_begin(Runner *runner, GError **error);
/* After the commit: mark the noted rows of each committed outcome to be dropped. */
void kept_rows_committed(Runner *runner);

/* Drop the rows that are needed no more; a failure is logged. For idle(). */
void kept_rows_idle(Runner *runner);

/* When the runner ends, drop the rows that are needed no more, and free the memory of this module. A failure is not
 * logged. */
void kept_rows_end(ListRunner *own);
