/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/join_form.h"

#include <string.h>

#include "base/mailbox.h"
#include "lists/keys.h"
#include "lists/letters/letter.h"

/* Can anybody on the Internet have a mailbox there? Strangers who fill in a form do not have one on this host. */
static bool is_public(const char *address)
{
    const char *domain = strrchr(address, '@') + 1, *last = strrchr(domain, '.');
    return *domain != '[' && last && last[1 + strspn(last + 1, G_CSET_DIGITS)];
}

bool join_form_take(Work *work, const List *list, const Joiner *joiner, SubscriptionResult *result, GError **error)
{
    const PageForm form = {.to = TO_JOIN, .list_id = list->list_id, .address = joiner->address, .name = joiner->name};
    bool barred = false, allowed = true;
    bool valid = mailbox_legible(joiner->address) && is_public(joiner->address);
    if (valid && !join_is_barred(work, list, joiner->address, &barred, error))
        return false;
    if (valid && !barred && !letter_form_allowed(work, list, joiner->address, &allowed, error))
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
    const Joiner joiner = {.address = form.address, .name = form.name};
    return join_ask(work, list, &joiner, &made, error);
}
