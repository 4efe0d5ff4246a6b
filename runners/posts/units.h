/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Settle the entries that interrupted changes left in the queues (lists/unit.h), for runners. */
#include <glib.h>
#include <stdbool.h>

#include "runners/runner.h"
#include "store/store.h"

/* Settle what was left in the runner's own queue. Call it from start(). False: the runner may not begin. Either the
 * spool is not this host's to work (this_host_check()), or it is not known which rows of an older program's outbox were
 * stored. A unit that cannot be settled now is logged and waits for the timer. */
bool units_start(Runner *runner, Store *store, GError **error);
