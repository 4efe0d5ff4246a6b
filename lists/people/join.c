/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/join.h"

#include <string.h>

#include "base/mailbox.h"
#include "lists/people/own_address.h"
#include "lists/people/people.h"
#include "lists/people/subscription_internal.h"
#include "lists/people/workflow.h"
#include "mail/domain_name.h"
#include "store/people/standing.h"
#include "store/people/user.h"

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

/* Finds out what keeps the address from being asked: *result is SUBSCRIPTION_DONE where nothing does. */
static bool find_hindrance(Work *work, const List *list, const char *address, AddressStanding *standing,
                           SubscriptionResult *result, GError **error)
{
    bool barred;
    *result = SUBSCRIPTION_BAD_ADDRESS;
    if (!mailbox_legible(address))
        return true;
    if (!join_is_barred(work, list, address, &barred, error) ||
        !standing_read(work_store(work), list->list_id, address, standing, error))
        return false;
    *result = barred                ? SUBSCRIPTION_OWN_ADDRESS
              : standing->banned    ? SUBSCRIPTION_BANNED
              : standing->is_member ? SUBSCRIPTION_NO_CHANGE
                                    : SUBSCRIPTION_DONE;
    if (*result == SUBSCRIPTION_BANNED)
        work_log(work, list->list_id, "join=<%s> result=banned (by %s)", address, standing->banned);
    return true;
}

static unsigned facts_of(const Joiner *joiner, const AddressStanding *standing)
{
    unsigned facts = joiner->facts | (standing->verified_at != 0 ? FACT_VERIFIED : 0);
    bool wishes = joiner->wishes && (facts & FACT_VERIFIED) && !(facts & FACT_INVITED);
    return facts | (wishes ? FACT_CONFIRMED : 0);
}

/* Somebody who may say so for all lists knows whose the address is. Who is invited shows it by the answer. */
static bool make_known(Work *work, const Joiner *joiner, const AddressStanding *standing, GError **error)
{
    bool proved = (joiner->facts & FACT_VERIFIED) && !(joiner->facts & (FACT_VOUCHED | FACT_INVITED));
    return (standing->has_user || people_register(work, joiner->address, joiner->name, joiner->names, error)) &&
           (!proved || address_note_verified(work_store(work), joiner->address, work_now(work), error));
}

/* A domain is one in its letters and as "xn--...". Where the address is known by the other spelling alone, set *other
 * to that (g_free()), so that one mailbox does not join twice. */
static bool find_other(Work *work, const char *address, char **other, GError **error)
{
    KnownAddress *found = NULL;
    const char *at = mailbox_valid(address) ? strrchr(address, '@') : NULL;
    *other = NULL;
    if (!at || (g_str_is_ascii(at) && !strstr(at, "xn--")))
        return true;
    if (!address_look_up(work_store(work), address, &found, error))
        return false;
    if (found) {
        known_address_free(found);
        return true;
    }
    g_autofree char *domain = g_str_is_ascii(at) ? domain_name_letters(at + 1) : domain_name_ascii(at + 1);
    g_autofree char *spelling = g_strdup_printf("%.*s@%s", (int)(at - address), address, domain);
    if (!address_look_up(work_store(work), spelling, &found, error))
        return false;
    *other = found ? g_strdup(found->original) : NULL;
    known_address_free(found);
    return true;
}

bool join_ask(Work *work, const List *list, const Joiner *from, Subscription *subscription, GError **error)
{
    g_autofree char *other = NULL;
    Joiner own = *from, *joiner = &own;
    if (!find_other(work, from->address, &other, error))
        return false;
    own.address = other ? other : from->address;
    g_auto(AddressStanding) standing = {0};
    *subscription = (Subscription){.kind = PENDING_JOIN};
    if (!find_hindrance(work, list, joiner->address, &standing, &subscription->result, error))
        return false;
    if (subscription->result != SUBSCRIPTION_DONE) {
        subscription->list_id = g_strdup(list->list_id);
        subscription->address = g_strdup(joiner->address);
        return true;
    }
    Pending request = {.kind = PENDING_JOIN,
                       .list_id = list->list_id,
                       .address = (char *)joiner->address,
                       .display_name = (char *)joiner->name,
                       .delivery_mode = joiner->wants ? joiner->wants->delivery_mode : -1,
                       .delivery_status = joiner->wants ? joiner->wants->delivery_status : -1,
                       .as_user = joiner->as_user,
                       .welcome = joiner->welcome,
                       .facts = facts_of(joiner, &standing)};
    return (!joiner->registers || make_known(work, joiner, &standing, error)) &&
           subscription_ask(work, list, &request, subscription, error);
}
