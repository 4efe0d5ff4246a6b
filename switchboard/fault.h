/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Why an entry was set aside: the object META_FAULT in its metadata,
 *
 *   {"queue": "in", "runner": "in", "reason": "...", "time": 1763644800000042, "times": 1,
 *    "name": "1763644800.000042+...", "ordinal": 1}
 *
 * queue and name tell where it was, time is in microseconds, times counts how
 * often this entry was set aside, ordinal is the one it had, so that it can
 * go back under its own hash.
 */
#include "switchboard/draft.h"
#include "switchboard/entry.h"
#include "switchboard/hop.h"

#define META_SHUNTED "shunted" /* integer: how often it was set aside; stays when it goes back */

/* Mark draft, a copy of entry that goes to the queue shunt. */
void fault_set(Draft *draft, Entry *entry, const char *runner, const char *reason);

/* Add to outcome a copy of its parent for the queue shunt, marked so. Returns it, borrowed: its metadata may still
 * change. */
Draft *outcome_shunt(Outcome *outcome, const char *runner, const char *reason);
