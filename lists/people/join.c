/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/join.h"

#include <string.h>

#include "lists/keys.h"
#include "lists/letters/letter.h"
#include "lists/people/own_address.h"
#include "lists/people/page_form.h"
#include "lists/people/people.h"
#include "lists/people/subscription_internal.h"
#include "mail/domain_name.h"
#include "store/people/ban.h"
#include "store/people/user.h"

/* Set *barred to whether the address belongs to this site itself, so that it may not become a member. By mail or a form
 * of a page more addresses of the site are barred than by the shell or REST: somebody may ask for the list at an
 * address of ours, and a letter would go to all who read it because a stranger wrote its name. */
static bool is_barred(const Work *work, const List *list, const Mailbox *address, bool *barred, GError **error)
{
    g_autofree char *why = NULL;
    g_autoptr(ListAddress) found = NULL;
    bool by_stranger = work_actor(work)->door == DOOR_MAIL || work_actor(work)->door == DOOR_PAGE;
    if (!(by_stranger ? own_address_find(work, address->text, &found, error)
                      : own_address_bars(work, list->list_id, ROLE_MEMBER, address->text, &why, error)))
        return false;
    *barred = why || found;
    return true;
}

/* A domain is one in its letters and as "xn--...". Where the address is known by the other spelling alone, set *other
 * to that (mailbox_free()), so that one mailbox does not join twice. */
static bool find_other(Work *work, const Mailbox *address, Mailbox **other, GError **error)
{
    KnownAddress *found = NULL;
    const char *at = address->valid ? strrchr(address->text, '@') : NULL;
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
    g_autofree char *text = g_strdup_printf("%.*s@%s", (int)(at - address->text), address->text, domain);
    g_autoptr(Mailbox) spelling = mailbox_new(text);
    if (!address_look_up(work_store(work), spelling, &found, error))
        return false;
    *other = mailbox_new(found ? found->original : NULL);
    known_address_free(found);
    return true;
}

bool join_ask(Work *work, const List *list, const Joiner *joiner, Subscription *subscription, GError **error)
{
    Store *store = work_store(work);
    g_autoptr(Mailbox) other = NULL;
    if (!find_other(work, joiner->address, &other, error))
        return false;
    const Mailbox *address = other ? other : joiner->address;
    bool barred = false;
    g_auto(AddressStanding) standing = {0};
    if (address->legible && (!is_barred(work, list, address, &barred, error) ||
                             !standing_read(store, list->list_id, address, &standing, error)))
        return false;
    *subscription = (Subscription){.kind = PENDING_JOIN};
    subscription->result = !address->legible    ? SUBSCRIPTION_BAD_ADDRESS
                           : barred             ? SUBSCRIPTION_OWN_ADDRESS
                           : standing.banned    ? SUBSCRIPTION_BANNED
                           : standing.is_member ? SUBSCRIPTION_NO_CHANGE
                                                : SUBSCRIPTION_DONE;
    if (subscription->result == SUBSCRIPTION_BANNED)
        work_log(work, list->list_id, "join=<%s> result=banned (by %s)", address->text, standing.banned);
    if (subscription->result != SUBSCRIPTION_DONE) {
        subscription->list_id = g_strdup(list->list_id);
        subscription->address = g_strdup(address->text);
        return true;
    }

    unsigned facts = joiner->facts | (standing.verified_at != 0 ? FACT_VERIFIED : 0);
    if (joiner->wishes && (facts & FACT_VERIFIED) && !(facts & FACT_INVITED))
        facts |= FACT_CONFIRMED;
    Pending request = {.kind = PENDING_JOIN,
                       .list_id = list->list_id,
                       .address = address,
                       .display_name = (char *)joiner->name,
                       .delivery_mode = joiner->wants ? joiner->wants->delivery_mode : -1,
                       .delivery_status = joiner->wants ? joiner->wants->delivery_status : -1,
                       .as_user = joiner->as_user,
                       .welcome = joiner->welcome,
                       .facts = facts};
    /* Somebody who may say so for all lists knows whose the address is. Who is invited shows it by the answer. */
    bool proved = (joiner->facts & FACT_VERIFIED) && !(joiner->facts & (FACT_VOUCHED | FACT_INVITED));
    if (joiner->registers &&
        ((!standing.has_user && !people_register(work, address, joiner->name, joiner->names, error)) ||
         (proved && !address_note_verified(store, address, work_now(work), error))))
        return false;
    return subscription_ask(work, list, &request, subscription, error);
}

/* ---- the form of a page ---- */

/* Can anybody on the Internet have a mailbox there? Strangers who fill in a form do not have one on this host. */
static bool is_public(const char *address)
{
    const char *domain = strrchr(address, '@') + 1, *last = strrchr(domain, '.');
    return *domain != '[' && last && last[1 + strspn(last + 1, G_CSET_DIGITS)];
}

bool join_form_take(Work *work, const List *list, const Joiner *joiner, SubscriptionResult *result, GError **error)
{
    const char *address = joiner->address->text;
    const PageForm form = {.to = TO_JOIN, .list_id = list->list_id, .address = address, .name = joiner->name};
    bool barred = false, allowed = true;
    bool valid = joiner->address->legible && is_public(address);
    if (valid && !is_barred(work, list, joiner->address, &barred, error))
        return false;
    if (valid && !barred && !letter_form_allowed(work, list, address, &allowed, error))
        return false;
    *result = !valid     ? SUBSCRIPTION_BAD_ADDRESS
              : barred   ? SUBSCRIPTION_OWN_ADDRESS
              : !allowed ? SUBSCRIPTION_LIMITED
                         : SUBSCRIPTION_ASKED_PERSON;
    if (*result == SUBSCRIPTION_ASKED_PERSON)
        page_form_leave(work, &form);
    return true;
}

bool join_form_work(Work *work, const List *list, const json_t *meta, GError **error)
{
    const PageForm form = page_form_read(meta);
    g_auto(Subscription) made = {0};
    g_autoptr(Mailbox) address = mailbox_new(form.address);
    const Joiner joiner = {.address = address, .name = form.name};
    return join_ask(work, list, &joiner, &made, error);
}
