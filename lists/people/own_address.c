/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/own_address.h"

#include <string.h>

#include "base/fail.h"
#include "mail/address.h"
#include "mail/domain_name.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"

/* The domain as it is written, then as it is in the DNS. */
static bool exists(const char *local, const char *domain, bool *there, char **list_id, void *data, GError **error)
{
    if (!list_exists(data, local, domain, there, list_id, error) || *there)
        return *there;
    g_autofree char *ascii = domain_name_ascii(domain);
    return strcmp(ascii, domain) == 0 || list_exists(data, local, ascii, there, list_id, error);
}

bool own_address_find(const Work *work, const char *address, ListAddress **found, GError **error)
{
    g_autoptr(GError) fault = NULL;
    *found = list_address_find(address, work_site(work)->delimiter, exists, work_store(work), &fault);
    return *found || fail_unless(error, FAIL_MISSING, &fault);
}

bool own_address_bars(const Work *work, const char *list_id, Role role, const char *address, char **why,
                      GError **error)
{
    ListAddress *which;
    *why = NULL;
    if (role == ROLE_NONMEMBER) /* who gets no mail */
        return true;
    if (!own_address_find(work, address, &which, error))
        return false;
    g_autoptr(ListAddress) found = which;
    if (!found)
        return true;
    if (role == ROLE_MEMBER && found->to == LIST_ADDRESS_POSTING && !found->detail &&
        strcmp(found->list_id, list_id) != 0) {
        g_autoptr(List) other = list_by_id(work_store(work), found->list_id, error);
        if (!other)
            return false;
        if (address_same(other->posting_address, address)) /* as that list itself has it */
            return true;
    }
    const char *rule = role == ROLE_MEMBER
                           ? "a list may be a member of another one by its posting address alone"
                           : "owners and moderators are people, with addresses of their own";
    *why = g_strdup_printf("%s is an address of the list %s@%s: %s", address, found->local, found->domain, rule);
    return true;
}

bool own_address_check(const Work *work, const char *list_id, Role role, const char *address, GError **error)
{
    char *sentence;
    if (!own_address_bars(work, list_id, role, address, &sentence, error))
        return false;
    g_autofree char *why = sentence;
    return !why || fail(error, FAIL_NEVER, "%s", why);
}

bool own_address_check_person(const Work *work, const char *address, GError **error)
{
    ListAddress *which;
    if (!own_address_find(work, address, &which, error))
        return false;
    g_autoptr(ListAddress) found = which;
    return !found || fail(error, FAIL_NEVER, "%s is an address of the list %s@%s, and cannot be a person's", address,
                          found->local, found->domain);
}

bool own_address_site_owner(const Work *work, char **list_id, GError **error)
{
    const char *owner = work_site(work)->site_owner;
    ListAddress *which = NULL;
    *list_id = NULL;
    if (owner && *owner && !own_address_find(work, owner, &which, error))
        return false;
    g_autoptr(ListAddress) found = which;
    *list_id = found ? g_strdup(found->list_id) : NULL;
    return true;
}

/* Fail when mail for an owner or moderator comes to the list list_id (NULL: to any list). Only addresses in the domain
 * are looked at, with a local part that begins with start. */
static bool check_runners(const Work *work, const char *domain, const char *start, const char *list_id, GError **error)
{
    g_autoptr(GPtrArray) people = member_running_at(work_store(work), domain, start, error);
    for (unsigned at = 0; people && at < people->len; at++) {
        const Member *member = people->pdata[at];
        ListAddress *which;
        if (!own_address_find(work, member->address, &which, error))
            return false;
        g_autoptr(ListAddress) found = which;
        if (found && (!list_id || strcmp(found->list_id, list_id) == 0))
            return fail(error, FAIL_NEVER, "%s is %s of %s, and would become an address of the list %s@%s; change that "
                        "person's address first", member->address, role_text(member->role), member->list_id,
                        found->local, found->domain);
    }
    return people != NULL;
}

bool own_address_check_new(const Work *work, const char *list_id, GError **error)
{
    char *which;
    if (!own_address_site_owner(work, &which, error))
        return false;
    g_autofree char *taken = which;
    if (g_strcmp0(taken, list_id) == 0)
        return fail(error, FAIL_NEVER, "%s gets the mail for the people who run this site ([site] site_owner), and "
                    "would become an address of this list; give the list another name, or the site an owner elsewhere",
                    work_site(work)->site_owner);
    g_autoptr(List) list = list_by_id(work_store(work), list_id, error);
    g_autoptr(Domain) domain = list ? domain_find(work_store(work), list->mail_host, error) : NULL;
    return domain && check_runners(work, domain->mail_host, list->list_name, list_id, error) &&
           (!domain->alias_domain || check_runners(work, domain->alias_domain, list->list_name, list_id, error));
}

bool own_address_check_alias(const Work *work, const char *alias, GError **error)
{
    return check_runners(work, alias, "", NULL, error);
}

/* ---- very many ---- */

GHashTable *own_address_domains(Store *store, GError **error)
{
    g_autoptr(GPtrArray) all = domain_all(store, error);
    if (!all)
        return NULL;
    GHashTable *domains = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned at = 0; at < all->len; at++) {
        const Domain *domain = all->pdata[at];
        g_hash_table_add(domains, domain_name_ascii(domain->mail_host));
        if (domain->alias_domain)
            g_hash_table_add(domains, domain_name_ascii(domain->alias_domain));
    }
    return domains;
}

bool own_address_may_be(GHashTable *domains, const char *address)
{
    const char *at = strrchr(address, '@');
    g_autofree char *key = at ? address_key(at + 1) : NULL, *domain = at ? domain_name_ascii(key) : NULL;
    return domain && g_hash_table_contains(domains, domain);
}
