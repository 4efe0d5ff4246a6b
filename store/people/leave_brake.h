/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep leave brakes: when too many members of one mail domain leave a list at once, a brake closes, and further
 * members of that domain have to wait. lists/people/subscription.c decides when that is; here is only the record. A
 * brake is one row for a list and a domain. It stays closed until closed_until, which each further attempt to leave
 * puts off. Domains are in lower case, times microseconds since 1970. Errors are those of the store; FAIL_MISSING:
 * there is no such list.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/store_type.h"

typedef struct LeaveBrake {
    int64_t closed_until; /* in the past: it is open; 0: there is no row */
    int64_t gone;         /* how many members had left when it closed */
    int64_t waiting;      /* how many attempts to leave came while it was closed, with the one that closed it */
} LeaveBrake;

/* Fill *brake; all its fields are 0 where there is no row. */
bool leave_brake_find(Store *store, const char *list_id, const char *domain, LeaveBrake *brake, GError **error);

/* Count one more member that has to wait, and close the brake until brake->closed_until. Where it is closed at now,
 * that only puts off the end. Where it was open, brake->gone is written and waiting begins at 1. brake->waiting is not
 * read. */
bool leave_brake_close(Store *store, const char *list_id, const char *domain, const LeaveBrake *brake, int64_t now,
                       GError **error);

/* Set *due: are the owners of the list to be told of this brake now, since they were told of no brake of the list
 * within LEAVE_BRAKE_TOLD? If *due, the store notes that they are told, so the caller must tell them. *due is false
 * where the brake has no row. */
#define LEAVE_BRAKE_TOLD (3600 * CLOCK_SECOND)
bool leave_brake_tell(Store *store, const char *list_id, const char *domain, int64_t now, bool *due, GError **error);

/* Count the brakes that are closed at now over all lists, and the sum of their waiting. */
bool leave_brake_sum(Store *store, int64_t now, int64_t *closed, int64_t *waiting, GError **error);

/* Count the members of the list who have addresses of the domain; no more than `most` are looked at. */
bool leave_brake_members(Store *store, const char *list_id, const char *domain, int64_t most, int64_t *count,
                         GError **error);

/* Remove the brakes whose closed_until is earlier than before. */
bool leave_brake_expire(Store *store, int64_t before, GError **error);
