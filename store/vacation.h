/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Vacations: a member wants no mail from one time to another. While a vacation lasts its delivery status is by_user;
 * afterwards it is as it was inherited. A vacation that was begun ends early when delivery is enabled.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct Vacation {
    int64_t begins_at, ends_at; /* ends_at 0: there is none */
    bool begun;
} Vacation;

/* Set the vacation, in place of one that is there. It begins at once when begins_at is not after now. FAIL_MISSING:
 * there is no such member; FAIL_NEVER: it ends before it begins, or before now. */
bool vacation_set(Store *store, const char *member_id, int64_t begins_at, int64_t ends_at, int64_t now, GError **error);
/* End it, or take it back before it begins; without one nothing happens. */
bool vacation_end(Store *store, const char *member_id, GError **error);
bool vacation_find(Store *store, const char *member_id, Vacation *vacation, GError **error);
/* ---- all lists of a person, in a few statements however many they are ---- */

/* Set the vacation for all memberships of the person who has the address, by any of its addresses. An address that
 * nobody has heard of has none. FAIL_NEVER as above. */
bool vacation_set_everywhere(Store *store, const char *address, const Vacation *vacation, int64_t now, GError **error);
/* Stop mail, or let it come again where the person or bounces stopped it, and end vacations. Mail that a moderator has
 * stopped stays so. */
bool vacation_switch_everywhere(Store *store, const char *address, bool mail, GError **error);

/* Begin and end what is due at now; *changed (may be NULL) is how many members. */
bool vacation_turn(Store *store, int64_t now, int64_t *changed, GError **error);
