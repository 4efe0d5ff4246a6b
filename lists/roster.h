/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Members of any role, made and removed without a question to anybody: no policy counts, no ban, and no letter is
 * written. Programs outside are told (lists/event.h), and the list's log gets a row (lists/change.h).
 */
#include "lists/work.h"
#include "store/member.h"

typedef struct RosterEntry {
    Role role;
    const char *address, *name; /* name for people; NULL: not known */
    const Preferences *own;     /* NULL: nothing is set */
    bool as_user;               /* by whatever address the user prefers; name and own do not count */
    bool counted;               /* has no row of its own in the log: the caller writes roster_log_many() */
} RosterEntry;

/* Adds a member. Errors are those of member_add() and own_address_check(), and leave the unit as it was. */
bool roster_add(Work *work, const char *list_id, const RosterEntry *entry, GError **error);

/* Removes a member. FAIL_MISSING: there is none. */
bool roster_remove(Work *work, const char *list_id, Role role, const char *address, GError **error);

/* Gives the membership to another address, which is told as one that left and one that joined. Errors are those of
 * member_set_address() and own_address_check(). */
bool roster_move(Work *work, const Member *member, const char *to, GError **error);

/* ---- for callers who have stored it themselves ---- */

/* Tells programs and the log that somebody came to have the role, or that a member left by this way
 * (leave_way_text()). */
bool roster_came(Work *work, const char *list_id, Role role, const char *address, GError **error);
bool roster_left(Work *work, const char *list_id, const char *address, const char *way, GError **error);

/* Only writes the row of one who has the role no more. way NULL: somebody took it away. */
bool roster_log_left(Work *work, const char *list_id, Role role, const char *address, const char *way, GError **error);

/* Writes one row for all who came at once and have none of their own; none for a number of 0. */
bool roster_log_many(Work *work, const char *list_id, Role role, uint64_t number, GError **error);

/* Only tells programs that a member came, went or gets no more mail (EVENT_MEMBER_JOINED, EVENT_MEMBER_LEFT,
 * EVENT_MEMBER_DISABLED). */
void roster_tell(Work *work, const char *type, const char *list_id, Role role, const char *address);
