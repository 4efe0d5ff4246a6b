/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep track of strangers. A stranger is an address that is not on the list, and whose post to it was held. The address
 * becomes a nonmember, so that moderators can say what becomes of the next post. Nobody else asked for that nonmember,
 * nor for the rows of the address and the person behind it. So all these rows are removed again when nothing needs
 * them.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/mailbox.h"
#include "store/store_type.h"

#define STRANGER_KEPT (30 * 86400 * CLOCK_SECOND) /* us since the last post that was held */

/* Note that a post of the address was held at now. Where the address is no nonmember of the list, it becomes one, and a
 * stranger. A nonmember that somebody else made does not become a stranger. FAIL_NEVER: it is no valid address.
 * FAIL_MISSING: there is no such list. */
bool stranger_note(Store *store, const char *list_id, const Mailbox *address, int64_t now, GError **error);

/* Remove the strangers that were last noted before the time `before`. A nonmember stays while a post of it is held, or
 * if somebody has set something for it. The address and person of a removed stranger go, too, unless they were there
 * before, are on a list, or have settings. The function works in short transactions of its own, and calls
 * progress(data) after each. *removed is how many nonmembers were removed, also on failure. */
bool stranger_expire(Store *store, int64_t before, StoreProgress *progress, void *data, int64_t *removed,
                     GError **error);

/* Count the nonmembers that are strangers. */
bool stranger_count(Store *store, int64_t *count, GError **error);
