/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Record departures: who left which list, when and by which way, with all options that the member had. Whoever has the
 * token that was mailed to the member can undo the departure. A departure is recorded before the member is removed, in
 * the same transaction. Its row is removed after DEPARTURE_KEPT, when it was undone, and with its list.
 *
 * The token is one of store/people/pending.h, of which only the SHA-256 is kept. Where a token is good no more,
 * pending_token_fate() tells why. Times are microseconds since 1970. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/mailbox.h"
#include "store/store_type.h"

#define DEPARTURE_KEPT (30 * 86400 * CLOCK_SECOND)

typedef struct Departure {
    char *list_id;
    const Mailbox *address;  /* as the member had it */
    int way;                 /* LeaveWay of lists/people/leave.h */
    bool counts;             /* departure_count() counts it, since a program may have caused it */
    int64_t left_at, expires_at;
} Departure;

void departure_free(Departure *departure);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Departure, departure_free)

/* Record that the member leaves at left_at, with the options that the member has now; expires_at is not read. An
 * earlier departure of the address from the list is replaced, and its token is good no more. With token NULL (no
 * letter is sent) the token of the earlier departure is good for this one. FAIL_MISSING: there is no such member. */
bool departure_record(Store *store, const Departure *departure, const char *token, GError **error);

/* Find a departure by its token; departure_free(). FAIL_MISSING: none has this token, or it has expired by now. */
Departure *departure_find_token(Store *store, const char *token, int64_t now, GError **error);

/* Undo the departure that has the token: make the address a member again with all options, and mark the token as used.
 * The caller asks beforehand whether the person may be a member. Delivery that bounces had disabled is enabled, since
 * the letter came through. So is delivery that was stopped by a vacation that is over by now. A membership of a user is
 * one of the user again, unless the address belongs to no user any more. FAIL_MISSING as departure_find_token();
 * FAIL_EXISTS: the address is a member already. */
bool departure_undo(Store *store, const char *token, int64_t now, GError **error);

/* Make the token of the address's earlier departure from the list good no more. Call it when the address leaves, or is
 * removed, by a way that must not be undone. */
bool departure_withdraw(Store *store, const char *list_id, const Mailbox *address, GError **error);

/* Count the departures of addresses of the mail domain (in lower case) from the list, later than `since`, that have
 * `counts` set. */
bool departure_count(Store *store, const char *list_id, const char *domain, int64_t since, int64_t *count,
                     GError **error);

/* Remove the departures that have expired; *removed (may be NULL) is how many. */
bool departure_expire(Store *store, int64_t now, int64_t *removed, GError **error);

/* ---- the brake ----
 *
 * When too many members of one mail domain leave a list at once, a brake closes, and further members of that domain
 * have to wait. lists/people/subscription.c decides when that is; here is only the record. A brake is one row for a
 * list and a domain. It stays closed until closed_until, which each further attempt to leave puts off. Domains are in
 * lower case. FAIL_MISSING: there is no such list. */

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

/* Remove the brakes whose closed_until is earlier than before. */
bool leave_brake_expire(Store *store, int64_t before, GError **error);
