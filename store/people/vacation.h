/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Vacations: times in which a member wants no mail. When a vacation begins, a member whose delivery is enabled gets the
 * delivery status by_user; a member whose delivery was stopped for another reason keeps that status. When it ends, the
 * member's own by_user is taken back, so that the inherited status counts. A vacation that has begun ends early when
 * somebody enables the member's delivery. Times are microseconds since 1970.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mailbox.h"
#include "store/store_type.h"

typedef struct Vacation {
    int64_t begins_at, ends_at; /* ends_at 0: there is none */
    bool begun;
} Vacation;

/* Set the vacation, in place of one that is there. It begins at once when begins_at is not after now. FAIL_MISSING:
 * there is no such member; FAIL_NEVER: it ends before it begins, or before now. */
bool vacation_set(Store *store, const char *member_id, int64_t begins_at, int64_t ends_at, int64_t now, GError **error);
/* End the member's vacation, or cancel it before it begins. True also where there is no vacation. FAIL_MISSING:
 * member_id is no id. */
bool vacation_end(Store *store, const char *member_id, GError **error);
/* Fill *vacation; all its fields are 0 where the member has none. FAIL_MISSING: member_id is no id. */
bool vacation_find(Store *store, const char *member_id, Vacation *vacation, GError **error);

/* ---- all lists of a person, in a few statements however many they are ---- */

/* Set the vacation (begun is not read) for each membership of the person who has the address, by any of the person's
 * addresses. For an address that the store does not know nothing happens. FAIL_NEVER as vacation_set(). */
bool vacation_set_everywhere(Store *store, const Mailbox *address, const Vacation *vacation, int64_t now,
                             GError **error);
/* With mail false, stop the mail of all these memberships; with mail true, let it come again where the person or
 * bounces have stopped it. Either ends the person's vacations. Mail that a moderator has stopped stays stopped. */
bool vacation_switch_everywhere(Store *store, const Mailbox *address, bool mail, GError **error);

/* Begin and end the vacations that are due at now; the timer calls it. *changed (may be NULL) is how many began or
 * ended. */
bool vacation_turn(Store *store, int64_t now, int64_t *changed, GError **error);
