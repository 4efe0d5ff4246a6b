/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Entries that the runner out holds, for a command that wants them: out is asked to give them back, which it does when
 * nothing of them is under way.
 */
#include <glib.h>

#include "cli/queue_select.h"
#include "cli/site.h"

/* targets: of QueueTarget. Waits for a few seconds until those that out holds are ready again; true when any was
 * asked for, and the states may have changed. A runner that cannot be asked is none that holds them. */
bool queue_leave(Site *site, const GArray *targets);
