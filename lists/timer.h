/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Asking the timer (runners/task) to do a job at once, rather than when it is due. */
#include "lists/work.h"

/* Gather an entry for the queue task that names the job. If there is no such job, only the timer notices. */
void timer_ask(Work *work, const char *job);
