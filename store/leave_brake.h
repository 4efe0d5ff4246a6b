/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Of which mail domains too many members left a list at once. lists/leave_brake.h says when that is, and what is done.
 * A brake is one row for a list and a domain; it is closed until a time that each further attempt puts off. Domains are
 * in lower case, times microseconds since 1970. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/store_type.h"

typedef struct LeaveBrake {
    int64_t closed_until; /* 0: it never was closed, or that is forgotten */
    int64_t gone;         /* how many had left when it closed */
    int64_t waiting;      /* how many of those after them wait */
} LeaveBrake;

bool leave_brake_find(Store *store, const char *list_id, const char *domain, LeaveBrake *brake, GError **error);

/* One more is to wait: close the brake until then, or put that off where it is closed now. gone counts when it was
 * open. */
bool leave_brake_close(Store *store, const char *list_id, const char *domain, const LeaveBrake *brake, int64_t now,
                       GError **error);

/* May the owners of the list be told now? *due: they were not told within LEAVE_BRAKE_TOLD, whatever the domain; it is
 * taken that they are now. */
#define LEAVE_BRAKE_TOLD (3600 * CLOCK_SECOND)
bool leave_brake_tell(Store *store, const char *list_id, const char *domain, int64_t now, bool *due, GError **error);

/* On how many lists and domains it is closed now, and how many were made to wait there. */
bool leave_brake_sum(Store *store, int64_t now, int64_t *closed, int64_t *waiting, GError **error);

/* Count the members of the list who have addresses of the domain; no more than `most` are looked at. */
bool leave_brake_members(Store *store, const char *list_id, const char *domain, int64_t most, int64_t *count,
                         GError **error);

/* Forget those that closed no more since then. */
bool leave_brake_expire(Store *store, int64_t before, GError **error);
