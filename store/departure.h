/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Record departures: who left which list, when and by which way, with all options that the member had, so that a mailed
 * token undoes it. A departure is recorded before the member is removed, in the same transaction. It is forgotten
 * DEPARTURE_KEPT later, when it was undone, and with its list: one of the same name that is made later is another one.
 *
 * The token is one of store/pending.h, of which the SHA-256 is kept; what became of one that is good no more,
 * pending_token_fate() tells. Times are microseconds since 1970. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/store_type.h"

#define DEPARTURE_KEPT (30 * 86400 * CLOCK_SECOND)

typedef struct Departure {
    char *list_id, *address; /* as the member had it */
    int way;                 /* LeaveWay of lists/leave.h */
    bool counts;             /* a program may have done it: departure_count() sees it */
    int64_t left_at, expires_at;
} Departure;

void departure_free(Departure *departure);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Departure, departure_free)

/* Record that the member leaves now (left_at), with the options that are there; expires_at does not count. It takes the
 * place of an earlier departure of the address from the list, and so does its token; where token is NULL, since no
 * letter goes, that of the earlier one is good for this one. FAIL_MISSING: there is no such member. */
bool departure_record(Store *store, const Departure *departure, const char *token, GError **error);

/* FAIL_MISSING: no departure has this token, or it has expired by now. */
Departure *departure_find_token(Store *store, const char *token, int64_t now, GError **error);

/* Make who has the token a member again, with all options; the token is used then. Whether the person may be one is the
 * caller's to ask. The delivery that bounces had disabled is enabled, since the letter came through; a vacation that is
 * over by now is. Who was there as a user is so again, unless the address belongs to no user any more. FAIL_MISSING as
 * above; FAIL_EXISTS: the address is a member already. */
bool departure_undo(Store *store, const char *token, int64_t now, GError **error);

/* The address went, or was removed, by a way that nothing undoes: tokens of its earlier departures from the list are
 * good no more. */
bool departure_withdraw(Store *store, const char *list_id, const char *address, GError **error);

/* How many of the mail domain (in lower case) left the list since then by a way that counts. */
bool departure_count(Store *store, const char *list_id, const char *domain, int64_t since, int64_t *count,
                     GError **error);

/* Remove what has expired; *removed (may be NULL) is how many. */
bool departure_expire(Store *store, int64_t now, int64_t *removed, GError **error);
