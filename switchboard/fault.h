/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Set entries aside into the queue shunt, where they wait for a person. The metadata of such an entry says why, in the
 * object META_FAULT:
 *
 *   {"queue": "in", "runner": "in", "reason": "...", "time": 1763644800000042, "times": 1,
 *    "name": "1763644800.000042+...", "ordinal": 1}
 *
 * queue and name tell where the entry was. time is in microseconds since 1970. times counts how often the entry was set
 * aside. ordinal is the one that it had, so that it can go back under its own hash.
 */
#include "switchboard/draft.h"
#include "switchboard/entry.h"
#include "switchboard/hop.h"

#define META_SHUNTED "shunted" /* integer: how often it was set aside; stays when it goes back */

/* Put META_FAULT and META_SHUNTED into the metadata of draft, a copy of entry that goes to the queue shunt. */
void fault_set(Draft *draft, Entry *entry, const char *runner, const char *reason);

/* Add to outcome a copy of its parent for the queue shunt, marked by fault_set(). Return the copy, borrowed, so that
 * the caller may still change its metadata. */
Draft *outcome_shunt(Outcome *outcome, const char *runner, const char *reason);
