/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make and remove members of any role (member, owner, moderator, nonmember) at once. Policies and bans of the list do
 * not count here, nobody is asked, and no letter is written. Programs outside are told (lists/event.h), and the list's
 * log gets a row (lists/change.h). All runs in the transaction of the unit of work.
 */
#include "lists/work.h"
#include "store/people/member.h"

typedef struct RosterEntry {
    Role role;
    const Mailbox *address;
    const char *name;       /* for people; NULL: not known */
    const Preferences *own; /* NULL: nothing is set */
    bool as_user;           /* the address's user joins, by the preferred address; name and own do not count */
    bool counted;           /* has no row of its own in the log: the caller writes roster_log_many() */
} RosterEntry;

/* Add a member. Errors are those of member_add() and own_address_check(), and leave the unit as it was. */
bool roster_add(Work *work, const char *list_id, const RosterEntry *entry, GError **error);

/* Remove the member who has this role by this address. FAIL_MISSING: there is none. */
bool roster_remove(Work *work, const char *list_id, Role role, const Mailbox *address, GError **error);

/* Give the membership to the address `to`. Programs and the log are told that the old address left and `to` joined.
 * Errors are those of member_set_address() and own_address_check(). */
bool roster_move(Work *work, const Member *member, const Mailbox *to, GError **error);

/* ---- for callers who have written or removed the member's row themselves ---- */

/* Tell programs and the log that the address has the role from now on. */
bool roster_came(Work *work, const char *list_id, Role role, const char *address, GError **error);

/* Tell programs and the log that the address is no ROLE_MEMBER any more, and by which way (leave_way_text()). */
bool roster_left(Work *work, const char *list_id, const char *address, const char *way, GError **error);

/* Write only the log's row of somebody who has lost the role. way NULL: somebody else took the role away. */
bool roster_log_left(Work *work, const char *list_id, Role role, const char *address, const char *way, GError **error);

/* Write one row into the list's log that `number` members came in this role. Members added with RosterEntry.counted get
 * no rows of their own, and need this one. Nothing is written if number is 0. */
bool roster_log_many(Work *work, const char *list_id, Role role, uint64_t number, GError **error);

/* Tell only the programs of an event: EVENT_MEMBER_JOINED, EVENT_MEMBER_LEFT, or EVENT_MEMBER_DISABLED (the member gets
 * no more mail). */
void roster_tell(Work *work, const char *type, const char *list_id, Role role, const char *address);
