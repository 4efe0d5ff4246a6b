/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/join.h"

#include "base/mailbox.h"
#include "lists/own_address.h"
#include "lists/subscription_internal.h"
#include "lists/workflow.h"
#include "store/ban.h"
#include "store/email.h"

/* Somebody may ask for the list at an address of ours, and a letter would go to all who read it because a stranger
 * wrote its name. */
bool join_is_barred(const Work *work, const List *list, const char *address, bool *barred, GError **error)
{
    char *sentence;
    ListAddress *which = NULL;
    bool by_stranger = work_actor(work)->door == DOOR_MAIL || work_actor(work)->door == DOOR_PAGE;
    if (!own_address_bars(work, list->list_id, ROLE_MEMBER, address, &sentence, error) ||
        (by_stranger && !own_address_find(work, address, &which, error)))
        return false;
    g_autofree char *why = sentence;
    g_autoptr(ListAddress) found = which;
    *barred = why || found;
    return true;
}

bool join_ask(Work *work, const List *list, const Joiner *joiner, Subscription *subscription, GError **error)
{
    const char *address = joiner->address;
    Member *found;
    int64_t verified_at;
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_ADDRESS, .kind = PENDING_JOIN};
    bool valid = mailbox_valid(address), barred = false;
    if (valid && !join_is_barred(work, list, address, &barred, error))
        return false;
    if (!valid || barred) {
        subscription->result = barred ? SUBSCRIPTION_OWN_ADDRESS : SUBSCRIPTION_BAD_ADDRESS;
        subscription->address = g_strdup(address);
        return true;
    }
    g_autofree char *banned = NULL;
    if (!ban_check(work_store(work), list->list_id, address, NULL, &banned, error))
        return false;
    if (banned) {
        work_log(work, list->list_id, "join=<%s> result=banned (by %s)", address, banned);
        subscription->result = SUBSCRIPTION_BANNED;
        subscription->list_id = g_strdup(list->list_id);
        subscription->address = g_strdup(address);
        return true;
    }
    if (!member_look_up(work_store(work), list->list_id, ROLE_MEMBER, address, &found, error))
        return false;
    g_autoptr(Member) member = found;
    if (!address_verified(work_store(work), address, &verified_at, error))
        return false;
    if (member) {
        subscription->result = SUBSCRIPTION_NO_CHANGE;
        subscription->list_id = g_strdup(list->list_id);
        subscription->address = g_strdup(address);
        return true;
    }
    Pending request = {.kind = PENDING_JOIN, .list_id = list->list_id, .address = (char *)address,
                       .display_name = (char *)joiner->name,
                       .delivery_mode = joiner->wants ? joiner->wants->delivery_mode : -1,
                       .delivery_status = joiner->wants ? joiner->wants->delivery_status : -1,
                       .as_user = joiner->as_user, .welcome = joiner->welcome,
                       .facts = joiner->facts | (verified_at != 0 ? FACT_VERIFIED : 0)};
    return subscription_ask(work, list, &request, subscription, error);
}
