/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/roster.h"

#include "lists/change.h"
#include "lists/event.h"
#include "lists/people/own_address.h"
#include "store/people/departure.h"

void roster_tell(Work *work, const char *type, const char *list_id, Role role, const char *address)
{
    event_tell(work, type, list_id, json_pack("{ss ss}", "email", address, "role", role_text(role)));
}

static bool log_role(Work *work, const char *list_id, const char *address, const Change *change, GError **error)
{
    g_autofree char *lower = g_utf8_strdown(address, -1);
    Change row = *change;
    row.name = lower;
    return change_log(work, list_id, &row, error);
}

bool roster_log_left(Work *work, const char *list_id, Role role, const char *address, const char *way, GError **error)
{
    const char *word = role_text(role);
    return log_role(work, list_id, address, &(Change){.kind = word, .before = word, .after = way}, error);
}

bool roster_log_many(Work *work, const char *list_id, Role role, uint64_t number, GError **error)
{
    g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, number);
    return number == 0 ||
           change_log(work, list_id, &(Change){.kind = LOG_IMPORT, .name = role_text(role), .after = text}, error);
}

bool roster_came(Work *work, const char *list_id, Role role, const char *address, GError **error)
{
    const char *word = role_text(role);
    roster_tell(work, EVENT_MEMBER_JOINED, list_id, role, address);
    return log_role(work, list_id, address, &(Change){.kind = word, .after = word}, error);
}

bool roster_left(Work *work, const char *list_id, const char *address, const char *way, GError **error)
{
    roster_tell(work, EVENT_MEMBER_LEFT, list_id, ROLE_MEMBER, address);
    return roster_log_left(work, list_id, ROLE_MEMBER, address, way, error);
}

bool roster_add(Work *work, const char *list_id, const RosterEntry *entry, GError **error)
{
    Store *store = work_store(work);
    const Preferences *own = entry->own ? entry->own : &preferences_unset;
    const char *address = entry->address->text;
    if (!own_address_check(work, list_id, entry->role, address, error) ||
        !(entry->as_user ? member_add_user(store, list_id, entry->role, entry->address, error)
                         : member_add(store, list_id, entry->role, entry->address, entry->name, own, error)))
        return false;
    work_log(work, list_id, "%s=<%s> by=<%s> result=added", role_text(entry->role), address, work_by(work));
    if (!entry->counted)
        return roster_came(work, list_id, entry->role, address, error);
    roster_tell(work, EVENT_MEMBER_JOINED, list_id, entry->role, address);
    return true;
}

bool roster_remove(Work *work, const char *list_id, Role role, const Mailbox *address, GError **error)
{
    if (!member_remove(work_store(work), list_id, role, address, error) ||
        (role == ROLE_MEMBER && !departure_withdraw(work_store(work), list_id, address, error)))
        return false;
    work_log(work, list_id, "%s=<%s> by=<%s> result=removed", role_text(role), address->text, work_by(work));
    roster_tell(work, EVENT_MEMBER_LEFT, list_id, role, address->text);
    return roster_log_left(work, list_id, role, address->text, NULL, error);
}

bool roster_move(Work *work, const Member *member, const Mailbox *to, GError **error)
{
    if (!own_address_check(work, member->list_id, member->role, to->text, error) ||
        !member_set_address(work_store(work), member->id, to, error))
        return false;
    roster_tell(work, EVENT_MEMBER_LEFT, member->list_id, member->role, member->address);
    return roster_log_left(work, member->list_id, member->role, member->address, NULL, error) &&
           roster_came(work, member->list_id, member->role, to->text, error);
}
