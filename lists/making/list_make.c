/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/making/list_make.h"

#include <string.h>

#include "base/fail.h"
#include "lists/archive/archive_place.h"
#include "lists/event.h"
#include "lists/letters/letter.h"
#include "lists/making/domain_make.h"
#include "lists/making/list_name.h"
#include "lists/making/mta_maps.h"
#include "lists/making/style.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "lists/posts/fragment_wake.h"
#include "lists/posts/scheduled_post.h"
#include "store/lists/domain.h"
#include "store/lists/list_archive.h"

/* Refuse a domain that is known by another name, as a slip of the hand would make it. */
static bool is_no_slip(Store *store, const char *mail_host, GError **error)
{
    char *found;
    if (!domain_near(store, mail_host, &found, error))
        return false;
    g_autofree char *near = found;
    return !near || fail(error, FAIL_NEVER,
                         "this site has no domain %s, but %s; if the new one is meant: --new-domain, or first "
                         "listrunner domain create %s",
                         mail_host, near, mail_host);
}

static bool ensure_domain(Store *store, const NewList *new, GError **error)
{
    const char *at = strrchr(new->address, '@');
    if (!at || at == new->address || !at[1])
        return fail(error, FAIL_NEVER, "'%s' is no list address; NAME@DOMAIN is wanted", new->address);
    if (!new->near_domain && !is_no_slip(store, at + 1, error))
        return false;
    g_autoptr(GError) refusal = NULL;
    if (domain_create(store, at + 1, NULL, &refusal))
        return true;
    if (!g_error_matches(refusal, FAIL, FAIL_EXISTS))
        return fail_with(error, &refusal);
    g_autoptr(Domain) domain = domain_find(store, at + 1, NULL);
    return domain || fail(error, FAIL_NEVER, "%s is the alias of another domain (listrunner domain ls); lists are made "
                          "in that one, and mail to the alias reaches them", at + 1);
}

static bool add_owners(Work *work, const List *list, const char *const *owners, GError **error)
{
    for (; owners && *owners; owners++) {
        g_autoptr(GError) refusal = NULL;
        if (roster_add(work, list->list_id, &(RosterEntry){.role = ROLE_OWNER, .address = *owners}, &refusal) ||
            g_error_matches(refusal, FAIL, FAIL_EXISTS))
            continue;
        g_propagate_prefixed_error(error, g_steal_pointer(&refusal), "owner: ");
        return false;
    }
    return true;
}

static bool tell_owners(Work *work, const List *list, const char *const *owners, GError **error)
{
    /* From the list, in whose domain it is signed: site_owner is as a rule at a domain that forbids others its name. */
    const char *site_owner = work_site(work)->site_owner;
    for (; owners && *owners; owners++) {
        ListLetter letter = {.template = "list_created", .to = *owners, .reply_to = site_owner, .personal = true};
        if (!work_letter(work, list, &letter, error))
            return false;
    }
    return true;
}

/* An archive that is there already is that of another list: removed by an older program, or restored. The next name is
 * taken, where there is none. */
static bool choose_archive(Work *work, const List *made, GError **error)
{
    const Config *config = work_site(work)->config;
    for (int64_t archive = made->archive; config; archive++) {
        g_autofree char *name = list_archive_name(made->list_id, archive);
        g_auto(GStrv) places = archive_places(config, name);
        if (!*places)
            return archive == made->archive || list_archive_set(work_store(work), made->list_id, archive, error);
    }
    return true;
}

List *list_make(Work *work, const NewList *new, GError **error)
{
    Store *store = work_store(work);
    if ((new->make_domain && !ensure_domain(store, new, error)) ||
        !list_name_is_free(store, new->address, work_site(work)->delimiter, error))
        return NULL;
    g_autoptr(List) made = list_create(store, new->address, error);
    if (!made || !own_address_check_new(work, made->list_id, error) || !choose_archive(work, made, error) ||
        !style_apply(work, made->list_id, new->style, error) || !add_owners(work, made, new->owners, error))
        return NULL;
    g_autoptr(List) list = list_by_id(store, made->list_id, error);
    if (!list || (new->notify && !tell_owners(work, list, new->owners, error)))
        return NULL;
    mta_maps_ask(work);
    event_tell(work, EVENT_LIST_CREATED, list->list_id, json_pack("{ss}", "address", list->posting_address));
    work_log(work, list->list_id, "result=list-created style=%s", new->style ? new->style : "discussion");
    return g_steal_pointer(&list);
}

/* The runner that has the parts learns that they wait for nothing. */
static bool wake(const FragmentSet *set, void *data)
{
    if (set->state != FRAGMENT_OPEN && set->state != FRAGMENT_QUARANTINED)
        return true;
    work_entry(data, "defragment", fragment_wake_meta(set),
               g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref), NULL);
    return true;
}

bool list_drop(Work *work, const char *list_id, GError **error)
{
    const FragmentChoice choice = {.list_id = list_id, .host = work_site(work)->hostname, .every_state = true};
    if (!fragment_each(work_store(work), &choice, wake, work, error))
        return false;
    g_autoptr(List) list = list_by_id(work_store(work), list_id, error);
    if (!list || !scheduled_post_list_goes(work, list, error))
        return false;
    event_tell(work, EVENT_LIST_REMOVED, list_id, json_object());
    if (!list_remove(work_store(work), list_id, error))
        return false;
    mta_maps_ask(work);
    work_log(work, list_id, "result=list-removed");
    return true;
}
