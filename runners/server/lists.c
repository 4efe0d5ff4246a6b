/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/server/lists.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/hosts/seat.h"
#include "mail/address.h"
#include "net/mx.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/moving/carry.h"
#include "store/store.h"
#include "switchboard/spool.h"

#define CACHE_LIMIT 10000
#define CACHE_ADDRESS_MAX 320 /* bytes: no list's address is longer (RFC 5321 4.5.3.1) */
#define SPOOL_PAUSE CLOCK_SECOND
#define TRUST_US 1000 /* a list that was there this short a time ago is there, and as it was */

struct Lists {
    const Config *config;
    Spool *spool; /* NULL until it was opened */
    Seat seat;    /* it comes back, and pauses */
    int64_t version, looked_at;
    bool away;           /* the database's server: what is known is the last that it said */
    GHashTable *known;   /* "local@domain" -> List-Id, "" for no such list */
    GHashTable *sizes;   /* List-Id -> lists_size_limit() */
    GHashTable *systems; /* List-Id -> carry_system(), "" for none */
    char delimiter;
    bool takes_requests; /* somebody works the queue command */
    const char *site_owner;
    const char *const *roles;
    bool told; /* that the mail for them is refused */
    bool said; /* why the database that is not open cannot be used */
};

Lists *lists_new(const Config *config)
{
    Lists *lists = g_new0(Lists, 1);
    lists->config = config;
    lists->seat = (Seat){.config = config, .deadline = STORE_DEADLINE_DOOR, .pauses = true};
    lists->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    lists->sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    lists->systems = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    lists->delimiter = config_string(config, "lmtp", "verp_delimiter")[0];
    lists->takes_requests = queue_is_worked(config, "command");
    lists->site_owner = config_string(config, "site", "site_owner");
    lists->roles = config_list(config, "site", "role_addresses");
    return lists;
}

void lists_free(Lists *lists)
{
    if (!lists)
        return;
    seat_leave(&lists->seat);
    spool_free(lists->spool);
    g_hash_table_unref(lists->known);
    g_hash_table_unref(lists->sizes);
    g_hash_table_unref(lists->systems);
    g_free(lists);
}

static void forget(Lists *lists)
{
    g_hash_table_remove_all(lists->known);
    g_hash_table_remove_all(lists->sizes);
    g_hash_table_remove_all(lists->systems);
}

/* A database of another site has none of the lists, and nothing may be refused for that. One that is open is looked at
 * by refresh(), when what is known of it may be old. */
void lists_keep(Lists *lists)
{
    g_autoptr(GError) why = NULL;
    Seat *seat = &lists->seat;
    bool refused = seat->refused;
    int64_t now = clock_monotonic();
    if (seat->store || now < seat->open_at)
        return;
    forget(lists);
    if (!lists->spool) {
        seat->spool = lists->spool = spool_open(config_string(lists->config, "spool", "directory"), &why);
        seat->open_at = lists->spool ? 0 : now + SPOOL_PAUSE;
    }
    if (lists->spool && seat_keep(seat, &why))
        lists->version = store_version(seat->store);
    else if (!lists->said || (seat->refused && !refused))
        log_warn("all mail is put off: %s", why->message);
    lists->said = !seat->store;
}

Store *lists_store(const Lists *lists, GError **error)
{
    if (!lists->seat.store)
        fail(error, FAIL_LATER, "the database cannot be used now");
    return lists->seat.store;
}

/* Forgets what may be stale, unless the server that would say so is away. False: the database that is open is no longer
 * the site's. An address that is not in it may well be a list's, so nobody is to be refused for good. */
static bool refresh(Lists *lists, GError **error)
{
    if (!store_present(lists->seat.store, error))
        return false;
    int64_t version;
    lists->away = !store_reachable(lists->seat.store) || !store_read_version(lists->seat.store, &version, NULL);
    if (lists->away) /* or it went away while it was asked */
        return true;
    if (version != lists->version || g_hash_table_size(lists->known) >= CACHE_LIMIT)
        forget(lists);
    lists->version = version;
    lists->looked_at = clock_monotonic();
    return true;
}

static bool answer(const char *known, bool *exists, char **list_id)
{
    *exists = *known != '\0';
    *list_id = *exists ? g_strdup(known) : NULL;
    return true;
}

static bool exists_cached(const char *local, const char *domain, bool *exists, char **list_id, void *data,
                          GError **error)
{
    Lists *lists = data;
    g_autofree char *address = g_strconcat(local, "@", domain, NULL);
    const char *known = g_hash_table_lookup(lists->known, address);
    if (known && *known && clock_monotonic() - lists->looked_at < TRUST_US)
        return answer(known, exists, list_id);
    if (!refresh(lists, error))
        return false;
    known = g_hash_table_lookup(lists->known, address);
    if (known && (*known || !lists->away)) /* a list may have been made since */
        return answer(known, exists, list_id);
    if (!list_exists(lists->seat.store, local, domain, exists, list_id, error))
        return false;
    g_autofree char *labels = *exists || g_str_is_ascii(domain) ? NULL : mx_domain_normal(domain);
    if (labels && !list_exists(lists->seat.store, local, labels, exists, list_id, error))
        return false;
    if (strlen(address) <= CACHE_ADDRESS_MAX)
        g_hash_table_insert(lists->known, g_steal_pointer(&address), g_strdup(*exists ? *list_id : ""));
    return true;
}

void lists_give_up(Lists *lists, GError *why)
{
    why->code = FAIL_LATER;
    if (!store_reachable(lists->seat.store)) /* it comes back by itself, and told the log */
        return;
    log_error("database: %s", why->message);
    seat_leave(&lists->seat);
}

/* Sets *is when the mailbox is one of the role addresses, at a domain of lists. */
static bool is_role(Lists *lists, const char *mailbox, bool *is, GError **error)
{
    const char *at = strrchr(mailbox, '@');
    g_autofree char *local = at ? g_ascii_strdown(mailbox, at - mailbox) : NULL;
    *is = false;
    for (const char *const *role = local ? lists->roles : NULL; role && *role; role++)
        if (g_ascii_strcasecmp(local, *role) == 0)
            return lists_has_domain(lists, at + 1, is, error);
    return true;
}

/* *found stays NULL where the mailbox is not the site's. */
static bool find_site(Lists *lists, const char *mailbox, ListAddress **found, GError **error)
{
    bool is, owner_is = false;
    if (!is_role(lists, mailbox, &is, error) || (is && !is_role(lists, lists->site_owner, &owner_is, error)))
        return false;
    if (is && owner_is && !lists->told)
        log_warn("mail for %s is refused, because [site] site_owner is an address of the kind itself, at a domain of "
                 "lists: the mail would come back for ever; give the site an owner elsewhere",
                 mailbox);
    lists->told = lists->told || (is && owner_is);
    if (!is || owner_is)
        return true;
    *found = g_new0(ListAddress, 1);
    (*found)->to = LIST_ADDRESS_SITE;
    (*found)->list_id = g_strdup("");
    return true;
}

/* From which system the list came, borrowed; NULL: from none. It is known for as long as the list is. */
static bool find_system(Lists *lists, const char *list_id, const char **system, GError **error)
{
    char *came_from = NULL;
    const char *known = g_hash_table_lookup(lists->systems, list_id);
    if (!known) {
        if (!carry_system(lists->seat.store, list_id, &came_from, error))
            return false;
        known = came_from ? came_from : g_strdup("");
        g_hash_table_insert(lists->systems, g_strdup(list_id), (char *)known);
    }
    *system = *known ? known : NULL;
    return true;
}

/* Another system may have had the list, and its addresses are in mails and address books. */
static bool read_old(Lists *lists, ListAddress *found, GError **error)
{
    const char *system;
    bool posts = found->to == LIST_ADDRESS_POSTING && found->detail;
    if (!posts && found->to != LIST_ADDRESS_OWNER)
        return true;
    if (!find_system(lists, found->list_id, &system, error))
        return false;
    if (posts)
        list_address_read_old(found, system, found->detail);
    else /* mail of Sympa has this sender */
        found->takes_reports = g_strcmp0(system, "sympa") == 0;
    return true;
}

/* An address that such a system made with a dash: "talk-return-7-anne=example.org". *found stays NULL: it is none. */
static bool find_old(Lists *lists, const char *mailbox, ListAddress **found, GError **error)
{
    const char *at = strrchr(mailbox, '@');
    g_autofree char *local = at ? g_strndup(mailbox, (size_t)(at - mailbox)) : g_strdup("");
    g_autofree char *key = g_ascii_strdown(local, -1), *domain = address_key(at ? at + 1 : "");
    unsigned asked = 0;
    for (const char *dash = strchr(key, '-'); dash && !*found && asked < LIST_ADDRESS_LOOKUPS;
         dash = strchr(dash + 1, '-'), asked++) {
        bool exists;
        char *list_id = NULL;
        const char *system = NULL;
        g_autofree char *name = g_strndup(key, (size_t)(dash - key));
        if (!exists_cached(name, domain, &exists, &list_id, lists, error))
            return false;
        g_autoptr(ListAddress) list = g_new0(ListAddress, 1);
        list->list_id = list_id;
        if (exists && !find_system(lists, list_id, &system, error))
            return false;
        if (!exists || !list_address_read_old(list, system, local + (dash - key) + 1))
            continue;
        list->local = g_steal_pointer(&name);
        list->domain = g_strdup(domain);
        *found = g_steal_pointer(&list);
    }
    return true;
}

ListAddress *lists_find(Lists *lists, const char *mailbox, GError **error)
{
    g_autoptr(GError) why = NULL;
    if (!lists_store(lists, error))
        return NULL;
    ListAddress *found = list_address_find(mailbox, lists->delimiter, exists_cached, lists, &why);
    if (found && !read_old(lists, found, &why))
        g_clear_pointer(&found, list_address_free);
    if (!found && g_error_matches(why, FAIL, FAIL_MISSING) &&
        (!find_site(lists, mailbox, &found, error) || (!found && !find_old(lists, mailbox, &found, error))))
        return NULL;
    if (found)
        return found;
    if (!g_error_matches(why, FAIL, FAIL_MISSING))
        lists_give_up(lists, why);
    g_propagate_error(error, g_steal_pointer(&why));
    return NULL;
}

/* Requests that nobody works would lie in their queue for ever, and who sent one would wait for an answer. Posts wait,
 * and so do bounces, whose address every copy bears: who stops those runners means to start them again. */
bool lists_takes(const Lists *lists, const ListAddress *address)
{
    switch (address->to) {
    case LIST_ADDRESS_POSTING:
    case LIST_ADDRESS_OWNER:
    case LIST_ADDRESS_BOUNCES:
    case LIST_ADDRESS_SITE:
        return true;
    default:
        return lists->takes_requests;
    }
}

bool lists_has_domain(Lists *lists, const char *domain, bool *has, GError **error)
{
    g_autoptr(GError) why = NULL;
    g_autofree char *normal = mx_domain_normal(domain);
    if (!lists_store(lists, error))
        return false;
    if (store_present(lists->seat.store, &why) &&
        domain_answers(lists->seat.store, normal ? normal : domain, has, &why))
        return true;
    lists_give_up(lists, why);
    return fail_with(error, &why);
}

bool lists_size_limit(Lists *lists, const ListAddress *address, uint64_t *most, GError **error)
{
    g_autoptr(GError) why = NULL;
    *most = 0;
    if (address->to != LIST_ADDRESS_POSTING)
        return true;
    if (!lists_store(lists, error))
        return false;
    bool trusted = clock_monotonic() - lists->looked_at < TRUST_US;
    const uint64_t *known = trusted ? g_hash_table_lookup(lists->sizes, address->list_id) : NULL;
    if (!known && refresh(lists, &why))
        known = g_hash_table_lookup(lists->sizes, address->list_id);
    if (known)
        *most = *known;
    if (known)
        return true;
    g_autoptr(List) list = why ? NULL : list_by_id(lists->seat.store, address->list_id, &why);
    if (list) {
        *most = list_refused_size(list);
        g_hash_table_insert(lists->sizes, g_strdup(address->list_id), g_memdup2(most, sizeof *most));
        return true;
    }
    if (g_error_matches(why, FAIL, FAIL_MISSING)) /* removed meanwhile */
        return true;
    lists_give_up(lists, why);
    return fail_with(error, &why);
}
