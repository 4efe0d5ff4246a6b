/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Ask the timer (runners/task) to do a job at once after the commit, rather than when it is due. */
#include "lists/work.h"

/* Gather an entry for the queue task that names the job. The name is not checked: of one that is no job's, only the
 * timer complains. */
void timer_ask(Work *work, const char *job);
