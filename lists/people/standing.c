/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/standing.h"

#include "base/fail.h"
#include "store/lists/domain.h"
#include "store/people/user.h"

#define ROLES 100000 /* of a person that count */

static GHashTable *set_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void standing_free(Standing *standing)
{
    if (!standing)
        return;
    g_hash_table_unref(standing->domains);
    g_hash_table_unref(standing->owned);
    g_hash_table_unref(standing->moderated);
    g_free(standing);
}

Standing *standing_new(Store *store, const SignedIn *person, GError **error)
{
    g_autoptr(Standing) standing = g_new0(Standing, 1);
    standing->domains = set_new();
    standing->owned = set_new();
    standing->moderated = set_new();
    MemberCriteria criteria = sign_in_criteria(person);
    criteria.roles = 1u << ROLE_OWNER | 1u << ROLE_MODERATOR;
    if (*person->user_id) {
        g_autoptr(User) user = user_find(store, person->user_id, error);
        g_auto(GStrv) domains = user ? domain_owned(store, person->user_id, error) : NULL;
        if (!domains)
            return NULL;
        for (char **one = domains; *one; one++)
            g_hash_table_add(standing->domains, g_strdup(*one));
        standing->site = user->server_owner;
    }
    g_autoptr(GPtrArray) members = member_page(store, &criteria, NULL, ROLES, NULL, error);
    for (guint i = 0; members && i < members->len; i++) {
        const Member *member = members->pdata[i];
        g_hash_table_add(member->role == ROLE_OWNER ? standing->owned : standing->moderated, g_strdup(member->list_id));
    }
    return members ? g_steal_pointer(&standing) : NULL;
}

bool standing_any(const Standing *standing)
{
    return standing->site || g_hash_table_size(standing->domains) + g_hash_table_size(standing->owned) +
                                     g_hash_table_size(standing->moderated) >
                                 0;
}

Authority standing_of(const Standing *standing, const List *list)
{
    if (standing->site)
        return BY_SITE;
    if (g_hash_table_contains(standing->domains, list->mail_host))
        return BY_DOMAIN;
    if (g_hash_table_contains(standing->owned, list->list_id))
        return BY_LIST;
    return g_hash_table_contains(standing->moderated, list->list_id) ? BY_MODERATOR : BY_STRANGER;
}
