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

/* Note that a post of the address was held at now. Where the address is no nonmember of the list, it becomes one, and a
 * stranger. A nonmember that somebody else made does not become a stranger. FAIL_NEVER: it is no valid address. */
bool stranger_note(Store *store, const char *list_id, const char *address, int64_t now, GError **error);

/* Remove the strangers that were last noted before that time. A nonmember stays while a post of it is held, or if
 * somebody has set something for it. Its address and person go, too, unless they were there before, are on a list, or
 * somebody has set something for them. It works in short transactions and calls progress(data) after each. *removed is
 * how many nonmembers were removed, also on failure. */
bool stranger_expire(Store *store, int64_t before, StoreProgress *progress, void *data, int64_t *removed,
                     GError **error);

/* Count the nonmembers that are strangers. */
bool stranger_count(Store *store, int64_t *count, GError **error);
