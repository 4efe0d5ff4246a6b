/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Strangers: who posts to a list without being on it, and whose post is held, becomes a nonmember, so that moderators
 * can say what becomes of the next one. Nobody else asked for that nonmember, nor for the rows of the address and the
 * person behind it, so all of them go again when nothing needs them.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/store_type.h"

#define STRANGER_KEPT (30 * 86400 * CLOCK_SECOND) /* since the last post that was held */

/* Note that a post of the address was held, and make it a nonmember of the list, unless it is one. FAIL_NEVER: it is no
 * address. */
bool stranger_note(Store *store, const char *list_id, const char *address, int64_t now, GError **error);

/* Remove the nonmembers that were noted before that time, unless a post of theirs is held, or somebody has set
 * something for them; and their addresses and persons, unless somebody has set something for these, they were there
 * before, or they are on a list; in short transactions, with progress(data) after each. *removed: nonmembers, also
 * on failure. */
bool stranger_expire(Store *store, int64_t before, StoreProgress *progress, void *data, int64_t *removed,
                     GError **error);

/* How many there are. */
bool stranger_count(Store *store, int64_t *count, GError **error);
