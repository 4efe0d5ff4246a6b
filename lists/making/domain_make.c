/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/making/domain_make.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "lists/making/list_make.h"
#include "lists/making/mta_maps.h"
#include "lists/people/own_address.h"
#include "store/lists/domain.h"
#include "store/people/user.h"

/* A name that differs from a known one by no more letters may be a slip. */
#define SLIP_MAX 2

static void note(Work *work, const char *mail_host, const char *result)
{
    mta_maps_ask(work);
    work_log(work, "-", "domain=%s by=<%s> result=%s", mail_host, work_by(work), result);
}

bool domain_make_owners(Work *work, const char *mail_host, const char *const *owners, GError **error)
{
    Store *store = work_store(work);
    for (; *owners; owners++) {
        char id[STORE_ID_SIZE];
        g_autoptr(GError) missing = NULL;
        g_autoptr(Mailbox) address = mailbox_new(*owners);
        g_autoptr(User) user = user_find(store, *owners, &missing);
        if (user)
            memcpy(id, user->id, STORE_ID_SIZE);
        else if (!fail_unless(error, FAIL_MISSING, &missing) || !own_address_check_person(work, *owners, error) ||
                 !user_create(store, address, NULL, id, error))
            return false;
        if (!domain_add_owner(store, mail_host, id, error))
            return false;
    }
    return true;
}

static bool set(Work *work, const char *mail_host, const DomainData *data, GError **error)
{
    Store *store = work_store(work);
    const char *alias = data->alias && *data->alias ? data->alias : NULL;
    return (!data->description || domain_set_description(store, mail_host, data->description, error)) &&
           (!data->alias || domain_set_alias(store, mail_host, alias, error)) &&
           (!alias || own_address_check_alias(work, alias, error)) &&
           (!data->owners ||
            (domain_clear_owners(store, mail_host, error) && domain_make_owners(work, mail_host, data->owners, error)));
}

bool domain_make(Work *work, const char *mail_host, const DomainData *data, GError **error)
{
    if (!domain_create(work_store(work), mail_host, NULL, error) || !set(work, mail_host, data, error))
        return false;
    note(work, mail_host, "created");
    return true;
}

bool domain_near(Store *store, const char *mail_host, char **near, GError **error)
{
    *near = NULL;
    g_autofree char *name = g_utf8_validate(mail_host, -1, NULL) ? g_utf8_strdown(mail_host, -1) : g_strdup("");
    g_autoptr(GPtrArray) all = domain_all(store, error);
    NearWord word = {name, NULL, SLIP_MAX + 1};
    for (guint at = 0; all && at < all->len; at++) {
        const Domain *domain = all->pdata[at];
        near_word_offer(&word, domain->mail_host);
        if (domain->alias_domain)
            near_word_offer(&word, domain->alias_domain);
    }
    if (word.best && word.distance > 0)
        *near = g_strdup(word.best);
    return all != NULL;
}

bool domain_change(Work *work, const char *mail_host, const DomainData *data, GError **error)
{
    if (!set(work, mail_host, data, error))
        return false;
    note(work, mail_host, "changed");
    return true;
}

static bool note_id(const List *list, void *data)
{
    g_ptr_array_add(data, g_strdup(list->list_id));
    return true;
}

bool domain_drop(Work *work, const char *mail_host, bool with_lists, GError **error)
{
    g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func(g_free);
    if (with_lists && !list_each(work_store(work), mail_host, note_id, lists, error))
        return false;
    for (guint i = 0; i < lists->len; i++)
        if (!list_drop(work, lists->pdata[i], error))
            return false;
    if (!domain_remove(work_store(work), mail_host, error))
        return false;
    note(work, mail_host, "removed");
    return true;
}
