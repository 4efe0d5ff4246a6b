/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask the runner out to give back entries that it holds, so that a command can change them. The runner gives an entry
 * back when no delivery of it is under way.
 */
#include <glib.h>

#include "cli/queues/queue_select.h"
#include "cli/site.h"

/* Ask for those of the targets (of QueueTarget) that are claimed in out, retry or notice. Then wait until they are
 * given back, four seconds at most. Wait even if no runner could be asked, for then nobody holds them for long. Return
 * whether there were any, given back or not. If so, the states of the targets are old: look at the queues anew. */
bool queue_leave(Site *site, const GArray *targets);
