/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Pause the processes of a running site for a moment, as if the host stood still, so that its spool and its database
 * can be seen together. A process of its own lets them go on when the caller ends the pause or dies, and in any case
 * after PAUSE_LIMIT.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#define PAUSE_LIMIT 20 /* seconds */

typedef struct Pause Pause;

/* Stop the master with this process id and all its children, and return when each stands still. NULL with FAIL_LATER:
 * one does not within PAUSE_LIMIT, or we may not stop it; all go on then. */
Pause *pause_begin(pid_t master, GError **error);

/* Let all go on; consumes pause. False with FAIL_LATER: PAUSE_LIMIT had passed, so some may have gone on earlier. */
bool pause_end(Pause *pause, GError **error);
