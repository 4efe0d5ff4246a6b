/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell the defragment runner that something was decided about parts that wait: an entry without mail in its queue
 * (KEY_WAKE), for the slice that has the parts. The runner looks at the parts of that set again. Call it when the
 * decision is committed; before that the runner would find nothing changed.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "store/fragment.h"
#include "switchboard/spool.h"

/* Store such an entry. FAIL_LATER: it is not stored; the runner looks once an hour, and at its start, anyway. */
bool fragment_wake(Spool *spool, const FragmentSet *set, GError **error);

/* The metadata of such an entry, for who stores it otherwise; owned by the caller. */
json_t *fragment_wake_meta(const FragmentSet *set);
