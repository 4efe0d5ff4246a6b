/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/list.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "store/lists/list_setting.h"
#include "store/people/member.h"
#include "store/people/password.h"
#include "store/row.h"
#include "store/people/span.h"
#include "store/lists/list_archive.h"
#include "store/store_internal.h"
#include "store/people/token.h"

#define REMOVE_ROWS 10000 /* a transaction, so that others are not kept waiting */
#define COLUMNS "SELECT key, list_id, list_name, mail_host, created_at, last_post_at, post_id, archive FROM list "

static const char *const action_names[] = {"hold", "reject", "discard", "accept", "defer", "unset"};

const char *action_text(Action action)
{
    return action <= ACTION_UNSET ? action_names[action] : "unset";
}

bool action_parse(const char *text, Action *action)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(action_names); i++)
        if (g_ascii_strcasecmp(action_names[i], text) == 0) {
            *action = (Action)i;
            return true;
        }
    return false;
}

uint64_t list_refused_size(const List *list)
{
    if (list->settings->max_message_size == 0 || list->settings->refuse_message_size == 0)
        return 0;
    return (uint64_t)MAX(2 * MIN(list->settings->max_message_size, INT32_MAX), list->settings->refuse_message_size) *
           1024;
}

void list_free(List *list)
{
    if (!list)
        return;
    list_settings_clear(list);
    g_free(list->settings);
    g_free(list->list_id);
    g_free(list->list_name);
    g_free(list->mail_host);
    g_free(list->posting_address);
    g_free(list);
}

/* ---- short names ---- */

/* A short name is for addresses in which the name leaves no room for the rest: up to 16 of the name's first letters and
 * digits, for people, a dot, and the list's key in base32, by which it is found.
 *
 *   announcements-of-the-departments  ->  announcementsoft.a2npzykw5hpqe
 */
#define WORD_CHARS 16
#define KEY_CHARS 13 /* of five bits */
#define SHORT_SIZE (WORD_CHARS + 1 + KEY_CHARS + 1)

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

static void write_short(const char *name, int64_t key, char text[SHORT_SIZE])
{
    char *to = text;
    for (; *name && to < text + WORD_CHARS; name++)
        if (g_ascii_isalnum(*name))
            *to++ = g_ascii_tolower(*name);
    *to++ = '.';
    for (int place = KEY_CHARS - 1; place >= 0; place--)
        *to++ = alphabet[(uint64_t)key >> (5 * place) & 31];
    *to = '\0';
}

char *list_local(const List *list, const char *suffix, size_t room)
{
    int64_t key;
    char brief[SHORT_SIZE];
    const char *dash = suffix ? "-" : "", *ending = suffix ? suffix : "";
    g_autofree char *usual = g_strconcat(list->list_name, dash, ending, NULL);
    if (strlen(usual) <= room || !store_id_key(list->id, &key))
        return g_steal_pointer(&usual);
    write_short(list->list_name, key, brief);
    return g_strconcat(brief, dash, ending, NULL);
}

char *list_address(const List *list, const char *suffix)
{
    g_autofree char *local = list_local(list, suffix, LIST_LOCAL_MAX);
    return g_strconcat(local, "@", list->mail_host, NULL);
}

/* The key that a short name ends in; false: it is none. The caller looks whether the list's own is that name. */
static bool read_key(const char *name, int64_t *key)
{
    const char *dot = strchr(name, '.');
    if (!dot || dot - name > WORD_CHARS || strlen(dot + 1) != KEY_CHARS)
        return false;
    uint64_t number = 0;
    for (const char *at = dot + 1; *at; at++) {
        const char *digit = strchr(alphabet, *at);
        if (!digit)
            return false;
        number = number << 5 | (uint64_t)(digit - alphabet);
    }
    *key = (int64_t)number;
    return true;
}

/* The list of a short name at host (in lower case; a domain or the alias of one); *list_id is NULL: there is none. */
static bool find_short(Store *store, const char *name, const char *host, char **list_id, GError **error)
{
    int64_t key;
    *list_id = NULL;
    if (!read_key(name, &key))
        return true;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT list_id, list_name FROM list WHERE key = $1 AND mail_host = "
                                        "COALESCE((SELECT mail_host FROM domain WHERE alias_domain = $2), $2)",
                                        INTEGER(key), TEXT(host));
    Step step = query_step(query, error);
    char expected[SHORT_SIZE];
    if (step == STEP_ROW) {
        write_short(query_text(query, 1), key, expected);
        if (strcmp(expected, name) == 0)
            *list_id = g_strdup(query_text(query, 0));
    }
    return step != STEP_FAILED;
}

/* ---- reading ---- */

/* From a row of COLUMNS, without its settings. */
static List *read_columns(Query *query)
{
    List *list = g_new0(List, 1);
    list->settings = g_new0(ListSettings, 1);
    store_key_id(query_integer(query, 0), list->id);
    list->list_id = g_strdup(query_text(query, 1));
    list->list_name = g_strdup(query_text(query, 2));
    list->mail_host = g_strdup(query_text(query, 3));
    list->created_at = query_integer(query, 4);
    list->last_post_at = query_integer(query, 5);
    list->post_id = query_integer(query, 6);
    list->archive = query_integer(query, 7);
    list->posting_address = g_strconcat(list->list_name, "@", list->mail_host, NULL);
    return list;
}

static List *read_row(Store *store, Query *row, GError **error)
{
    g_autoptr(List) list = read_columns(row);
    list_settings_default(list);
    g_autoptr(Query) query = query_open(store, error, "SELECT name, value FROM list_setting WHERE list = $1",
                                        INTEGER(query_integer(row, 0)));
    Step step;
    /* A setting of a newer or older program is no reason to refuse mail. */
    while ((step = query_step(query, error)) == STEP_ROW)
        list_setting_apply(list, query_text(query, 0), query_text(query, 1));
    return step == STEP_DONE ? g_steal_pointer(&list) : NULL;
}

List *list_by_id(Store *store, const char *list_id, GError **error)
{
    g_autofree char *folded = g_utf8_validate(list_id, -1, NULL) ? g_utf8_strdown(list_id, -1) : g_strdup("");
    g_autoptr(Query) query = query_open(store, error, COLUMNS "WHERE list_id = $1", TEXT(folded));
    Step step = query_step(query, error);
    if (step == STEP_DONE)
        fail(error, FAIL_MISSING, "there is no list %s", list_id);
    return step == STEP_ROW ? read_row(store, query, error) : NULL;
}

List *list_by_address(Store *store, const char *posting_address, GError **error)
{
    const char *at = strrchr(posting_address, '@');
    g_autofree char *local = at ? g_strndup(posting_address, (size_t)(at - posting_address)) : NULL;
    g_autofree char *list_id = NULL;
    bool exists = false;
    if (at && !list_exists(store, local, at + 1, &exists, &list_id, error))
        return NULL;
    if (exists)
        return list_by_id(store, list_id, error);
    fail(error, FAIL_MISSING, "there is no list %s", posting_address);
    return NULL;
}

List *list_find(Store *store, const char *text, GError **error)
{
    return strchr(text, '@') ? list_by_address(store, text, error) : list_by_id(store, text, error);
}

List *list_by_name(Store *store, const char *name, const char *domain, GError **error)
{
    g_autofree char *folded = g_utf8_strdown(name, -1), *host = g_ascii_strdown(domain, -1), *list_id = NULL;
    {
        g_autoptr(Query)
            query = query_open(store, error,
                               "SELECT list_id, mail_host FROM list WHERE list_name = $1 OR "
                               "list_id = $1 || '.' || mail_host ORDER BY mail_host <> $2, mail_host LIMIT 2",
                               TEXT(folded), TEXT(host));
        Step step = query_step(query, error);
        if (step == STEP_ROW) {
            list_id = g_strdup(query_text(query, 0));
            /* In another domain it is meant only where no further one is as good. */
            if (g_ascii_strcasecmp(query_text(query, 1), host) != 0 && (step = query_step(query, error)) == STEP_ROW)
                g_clear_pointer(&list_id, g_free);
        }
        if (step == STEP_FAILED)
            return NULL;
    }
    if (!list_id)
        fail(error, FAIL_MISSING, "there is no list %s, or there are several", name);
    return list_id ? list_by_id(store, list_id, error) : NULL;
}

/* The List-Id of the first row, g_free(); NULL: there is none. The query is freed. */
static bool take_list_id(Query *query, char **list_id, GError **error)
{
    g_autoptr(Query) taken = query;
    Step step = query_step(query, error);
    *list_id = step == STEP_ROW ? g_strdup(query_text(query, 0)) : NULL;
    return step != STEP_FAILED;
}

bool list_exists(Store *store, const char *local, const char *domain, bool *exists, char **list_id, GError **error)
{
    *exists = false;
    if (list_id)
        *list_id = NULL;
    if (!g_utf8_validate(local, -1, NULL) || !g_utf8_validate(domain, -1, NULL))
        return true;
    g_autofree char *name = g_utf8_strdown(local, -1), *host = g_utf8_strdown(domain, -1), *found = NULL;
    if (!take_list_id(query_open(store, error,
                                 "SELECT list_id FROM list WHERE list_name = $1 AND mail_host = "
                                 "COALESCE((SELECT mail_host FROM domain WHERE alias_domain = $2), $2)",
                                 TEXT(name), TEXT(host)),
                      &found, error) ||
        (!found && !find_short(store, name, host, &found, error)))
        return false;
    /* A list that was renamed keeps its List-Id, which is made of this name and domain. */
    if (!found && !take_list_id(query_open(store, error,
                                           "SELECT list_id FROM list WHERE list_id = $1 || '.' || (SELECT mail_host "
                                           "FROM domain WHERE mail_host = COALESCE((SELECT mail_host FROM domain WHERE "
                                           "alias_domain = $2), $2)) AND list_id <> list_name || '.' || mail_host",
                                           TEXT(name), TEXT(host)),
                                &found, error))
        return false;
    *exists = found != NULL;
    if (list_id)
        *list_id = g_steal_pointer(&found);
    return true;
}

char **list_names(Store *store, const char *domain, const char *beginning, GError **error)
{
    g_autofree char *host = g_utf8_strdown(domain, -1), *start = g_utf8_strdown(beginning, -1);
    g_autofree char *end = g_strconcat(start, "\364\217\277\277", NULL); /* U+10FFFF: behind all that begin so */
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT list_name FROM list WHERE mail_host = $1 AND "
                                        "list_name >= $2 AND list_name < $3 ORDER BY list_name",
                                        TEXT(host), TEXT(start), TEXT(end));
    return query_texts(query, error);
}

bool list_each(Store *store, const char *domain, ListEach *each, void *data, GError **error)
{
    g_autofree char *host = domain ? g_utf8_strdown(domain, -1) : NULL;
    g_autoptr(Query) query =
        domain ? query_stream(store, error, COLUMNS "WHERE mail_host = $1 ORDER BY mail_host, list_name", TEXT(host))
               : query_stream_start(store, error, COLUMNS "ORDER BY mail_host, list_name", NULL, 0);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        g_autoptr(List) list = read_row(store, query, error);
        if (!list)
            return false;
        if (!each(list, data))
            return true;
    }
    return step == STEP_DONE;
}

/* $1: the domain or NULL; $2: 1 where only advertised lists are wanted. */
#define CRITERIA \
    "WHERE ($1 IS NULL OR mail_host = $1) AND ($2 = 0 OR NOT EXISTS (SELECT 1 FROM list_setting s WHERE " \
    "s.list = list.key AND s.name = 'advertised' AND s.value = 'no')) "

GPtrArray *list_page(Store *store, const ListCriteria *criteria, const char *after, int64_t skip, unsigned limit,
                     GError **error)
{
    g_autofree char *host = criteria->domain ? g_utf8_strdown(criteria->domain, -1) : NULL;
    const Value wanted[] = {TEXT(host), INTEGER(criteria->advertised)};
    g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func((GDestroyNotify)list_free);
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autoptr(Query)
        query = query_open(store, error, COLUMNS CRITERIA "AND list_id > $5 ORDER BY list_id LIMIT $3 OFFSET $4",
                           wanted[0], wanted[1], INTEGER(limit), INTEGER(after ? 0 : skip), TEXT(after ? after : ""));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        const int64_t key = query_integer(query, 0);
        List *list = read_columns(query);
        list_settings_default(list);
        g_ptr_array_add(lists, list);
        g_hash_table_insert(known, g_memdup2(&key, sizeof(key)), list);
    }
    if (step != STEP_DONE || lists->len == 0)
        return step == STEP_DONE ? g_steal_pointer(&lists) : NULL;

    /* The settings of all lists of the page are read at once; the lists stand in order. */
    const List *first = lists->pdata[0], *last = lists->pdata[lists->len - 1];
    g_autoptr(Query) settings = query_open(store, error,
                                           "SELECT own.list, own.name, own.value FROM list JOIN list_setting own ON "
                                           "own.list = list.key " CRITERIA "AND list_id >= $3 AND list_id <= $4",
                                           wanted[0], wanted[1], TEXT(first->list_id), TEXT(last->list_id));
    while ((step = query_step(settings, error)) == STEP_ROW) {
        int64_t key = query_integer(settings, 0);
        List *list = g_hash_table_lookup(known, &key);
        if (list) /* it may have been made since */
            list_setting_apply(list, query_text(settings, 1), query_text(settings, 2));
    }
    return step == STEP_DONE ? g_steal_pointer(&lists) : NULL;
}

bool list_total(Store *store, const ListCriteria *criteria, int64_t *total, GError **error)
{
    g_autofree char *host = criteria->domain ? g_utf8_strdown(criteria->domain, -1) : NULL;
    return query_number(store, error, total, "SELECT count(*) FROM list " CRITERIA, TEXT(host),
                        INTEGER(criteria->advertised));
}

bool list_key(Store *store, const char *list_id, int64_t *key, GError **error)
{
    GHashTable *known = store_list_keys(store);
    if (!known && !store_is_transaction_open(store) && g_hash_table_contains(store_list_keys_old(store), list_id)) {
        store_version(store); /* one question for all keys that are known, instead of one for each */
        known = store_list_keys(store);
    }
    const int64_t *found = known ? g_hash_table_lookup(known, list_id) : NULL;
    if (found) {
        *key = *found;
        return true;
    }
    g_autoptr(Query) query = query_open(store, error, "SELECT key FROM list WHERE list_id = $1", TEXT(list_id));
    Step step = query_step(query, error);
    if (step == STEP_DONE)
        return fail(error, FAIL_MISSING, "there is no list %s", list_id);
    if (step == STEP_ROW)
        *key = query_integer(query, 0);
    if (step == STEP_ROW && known)
        g_hash_table_insert(known, g_strdup(list_id), g_memdup2(key, sizeof *key));
    return step == STEP_ROW;
}

bool list_scope(Store *store, const char *list_id, int64_t *scope, GError **error)
{
    *scope = 0;
    return !list_id || list_key(store, list_id, scope, error);
}

bool list_key_soon(Store *store, const char *list_id, int64_t *key)
{
    const int64_t *found = g_hash_table_lookup(store_list_keys_old(store), list_id);
    if (found)
        *key = *found;
    return found != NULL;
}

/* ---- making and removing ---- */

static bool domain_known(Store *store, const char *mail_host, GError **error)
{
    bool known;
    return query_exists(store, error, &known, "SELECT 1 FROM domain WHERE mail_host = $1", TEXT(mail_host)) &&
           (known || fail(error, FAIL_MISSING, "there is no domain %s; make it with: listrunner domain create %s",
                          mail_host, mail_host));
}

/* Has the site a domain in which a list would have the same List-Id? x@lists.example.com has that of
 * x.lists@example.com, which is refused where there is the domain lists.example.com. */
static bool id_is_free(Store *store, const char *name, const char *host, GError **error)
{
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        g_autofree char *domain = g_strconcat(dot + 1, ".", host, NULL);
        bool taken;
        if (!query_exists(store, error, &taken, "SELECT 1 FROM domain WHERE mail_host = $1", TEXT(domain)))
            return false;
        if (taken)
            return fail(error, FAIL_NEVER,
                        "%s@%s would have the List-Id of a list %.*s@%s, in another domain of this "
                        "site; give it another name",
                        name, host, (int)(dot - name), name, domain);
    }
    return true;
}

/* The name becomes part of file names and header fields. */
static bool name_allowed(const char *name, GError **error)
{
    bool ok = g_ascii_isalnum(*name) && !g_str_has_suffix(name, ".") && !strstr(name, "..");
    for (const char *at = name; *at; at++)
        ok = ok && (g_ascii_isalnum(*at) || strchr("-_.+=~", *at));
    if (strlen(name) > LIST_LOCAL_MAX)
        return fail(error, FAIL_NEVER, "\"%s\" cannot be the name of a list; allowed: up to %d octets", name,
                    LIST_LOCAL_MAX);
    return ok || fail(error, FAIL_NEVER,
                      "\"%s\" cannot be the name of a list; allowed: letters, digits and - _ . + = ~ after one of "
                      "them, each dot between two others",
                      name);
}

/* "talk@example.com" as name and host, in lower case, when a list may have it. */
static bool split_address(const char *posting_address, char **name, char **host, GError **error)
{
    g_autoptr(Mailbox) address = mailbox_new(posting_address);
    const char *blank = mailbox_check(address, error) ? strchr(address->folded, ' ') : NULL;
    if (!blank || !name_allowed(blank + 1, error))
        return false;
    *name = g_strdup(blank + 1);
    *host = g_strndup(address->folded, (gsize)(blank - address->folded));
    return true;
}

List *list_create(Store *store, const char *posting_address, GError **error)
{
    g_autofree char *name = NULL, *host = NULL;
    if (!split_address(posting_address, &name, &host, error))
        return NULL;
    g_autofree char *list_id = g_strconcat(name, ".", host, NULL);
    {
        g_auto(Write) write = write_begin(store, WRITE_SITE, error);
        if (!write.begun)
            return NULL;
        store_changed(store);
        int64_t key = store_key_new(store, error), added = 0;
        if (key == 0 || !domain_known(store, host, error) || !id_is_free(store, name, host, error) ||
            !query_run(store, error, &added,
                       "INSERT INTO list (key, list_id, mail_host, list_name, created_at, last_post_at, post_id, "
                       "archive) VALUES ($1, $2, $3, $4, $5, 0, 1, "
                       "COALESCE((SELECT archive FROM removed_list WHERE list_id = $2), 0)) ON CONFLICT DO NOTHING",
                       INTEGER(key), TEXT(list_id), TEXT(host), TEXT(name), INTEGER(clock_now())))
            return NULL;
        if (added == 0) {
            fail(error, FAIL_EXISTS, "a list with the List-Id %s exists already", list_id);
            return NULL;
        }
        for (Role role = ROLE_MEMBER; role <= ROLE_NONMEMBER; role++)
            if (!span_begin(store, SPAN_MEMBERS(key, role), error))
                return NULL;
        if (!write_end(&write, error))
            return NULL;
    }
    return list_by_id(store, list_id, error);
}

/* Mail to name@host would go to a list that was renamed, by its List-Id. */
static bool id_is_unused(Store *store, int64_t key, const char *name, const char *host, GError **error)
{
    g_autofree char *list_id = g_strconcat(name, ".", host, NULL);
    g_autoptr(Query) query = query_open(store, error, "SELECT list_name || '@' || mail_host FROM list "
                                        "WHERE list_id = $1 AND key <> $2", TEXT(list_id), INTEGER(key));
    Step step = query_step(query, error);
    if (step != STEP_ROW)
        return step == STEP_DONE;
    return fail(error, FAIL_EXISTS, "the list %s has the List-Id %s already, and gets mail by it", query_text(query, 0),
                list_id);
}

bool list_rename(Store *store, const char *list_id, const char *posting_address, GError **error)
{
    int64_t key;
    bool taken;
    g_autofree char *name = NULL, *host = NULL;
    if (!split_address(posting_address, &name, &host, error))
        return false;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !list_key(store, list_id, &key, error) || !domain_known(store, host, error) ||
        !id_is_free(store, name, host, error) || !id_is_unused(store, key, name, host, error) ||
        !query_exists(store, error, &taken, "SELECT 1 FROM list WHERE mail_host = $1 AND list_name = $2 AND key <> $3",
                      TEXT(host), TEXT(name), INTEGER(key)))
        return false;
    if (taken)
        return fail(error, FAIL_EXISTS, "there is a list %s@%s already", name, host);
    store_changed(store);
    return query_run(store, error, NULL, "UPDATE list SET list_name = $2, mail_host = $3 WHERE key = $1", INTEGER(key),
                     TEXT(name), TEXT(host)) &&
           write_end(&write, error);
}

/* The members before the one at place REMOVE_ROWS, none when there are not so many. By their place in the table's own
 * order: a search for each of them would pass all others. */
bool list_remove_members(Store *store, const char *list_id, int64_t *removed, GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error))
        return false;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    *removed = 0;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT role, folded, by_person FROM member WHERE list = $1 "
                                        "ORDER BY role, folded, by_person LIMIT 1 OFFSET $2",
                                        INTEGER(list), INTEGER(REMOVE_ROWS));
    Step step = query_step(query, error);
    if (step != STEP_ROW)
        return step == STEP_DONE && write_end(&write, error);
    g_autofree char *folded = g_strdup(query_text(query, 1));
    int64_t role = query_integer(query, 0), by_person = query_integer(query, 2);
    g_clear_pointer(&query, query_free);
    return span_forget(store, list, error) &&
           query_run(store, error, removed,
                     "DELETE FROM member WHERE list = $1 AND (role, folded, by_person) < ($2, $3, $4)", INTEGER(list),
                     INTEGER(role), TEXT(folded), INTEGER(by_person)) &&
           write_end(&write, error);
}

bool list_remove(Store *store, const char *list_id, GError **error)
{
    int64_t removed = 1;
    while (removed > 0)
        if (!list_remove_members(store, list_id, &removed, error))
            return false;
    g_autofree char *mark = g_strconcat("list of ", list_id, NULL);
    return STORE_CHANGE(
        store, error,
        list_archive_leave(store, list_id, error) &&
            /* Parts of an import that belong to no list (people, bans of the site, requests) are gone through anew when
             * a list of it is imported once more. The marks of one import begin alike: "mailman3 5f3c: list of
             * talk.example.com". */
            query_run(store, error, NULL,
                      "DELETE FROM moved WHERE list IS NULL AND EXISTS (SELECT 1 FROM moved mark JOIN list ON "
                      "list.key = mark.list WHERE list.list_id = $1 AND "
                      "substr(mark.name, length(mark.name) - length($2) + 1) = $2 AND "
                      "substr(moved.name, 1, length(mark.name) - length($2)) = "
                      "substr(mark.name, 1, length(mark.name) - length($2)))",
                      TEXT(list_id), TEXT(mark)) &&
            query_run(store, error, NULL, "DELETE FROM span WHERE list = (SELECT key FROM list WHERE list_id = $1)",
                      TEXT(list_id)) &&
            query_run(store, error, &removed, "DELETE FROM list WHERE list_id = $1", TEXT(list_id)) &&
            query_run(store, error, NULL, "DELETE FROM template WHERE place = $1", TEXT(list_id)) &&
            token_forget(store, list_id, NULL, error) &&
            (removed > 0 || fail(error, FAIL_MISSING, "there is no list %s", list_id)) &&
            fragment_recount(store, error));
}

/* ---- settings ---- */

/* Rows are only for what differs from the default. value NULL: the default. */
bool list_set(Store *store, const char *list_id, const char *name, const char *value, GError **error)
{
    int64_t key;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    const ListSetting *setting = write.begun ? list_setting_find(name, error) : NULL;
    g_autoptr(List) list = setting ? list_by_id(store, list_id, error) : NULL;
    if (!list || !list_key(store, list->list_id, &key, error))
        return false;
    g_autofree char *kept = value ? list_setting_canonical(setting, value, error) : NULL;
    if (kept && *kept && setting->type == SETTING_PASSWORD) {
        g_autofree char *password = g_steal_pointer(&kept);
        kept = password_hash(password, error);
    }
    g_autofree char *fallback = list_setting_fallback(setting, list->list_name);
    if (value && !kept)
        return false;
    store_changed(store);
    return (!kept || strcmp(kept, fallback) == 0
                ? query_run(store, error, NULL, "DELETE FROM list_setting WHERE list = $1 AND name = $2", INTEGER(key),
                            TEXT(name))
                : query_run(store, error, NULL,
                            "INSERT INTO list_setting (list, name, value) VALUES ($1, $2, $3) "
                            "ON CONFLICT (list, name) DO UPDATE SET value = excluded.value",
                            INTEGER(key), TEXT(name), TEXT(kept))) &&
           write_end(&write, error);
}

bool list_reset(Store *store, const char *list_id, const char *name, GError **error)
{
    return list_set(store, list_id, name, NULL, error);
}

bool list_copy_settings(Store *store, const char *from, const char *to, GError **error)
{
    int64_t source, target;
    return STORE_CHANGE(
        store, error,
        list_key(store, from, &source, error) && list_key(store, to, &target, error) &&
            query_run(store, error, NULL, "DELETE FROM list_setting WHERE list = $1", INTEGER(target)) &&
            query_run(store, error, NULL,
                      "INSERT INTO list_setting (list, name, value) SELECT $2, name, value FROM list_setting "
                      "WHERE list = $1",
                      INTEGER(source), INTEGER(target)));
}

/* ---- values of a setting ---- */

static const RowField named_row[] = {ROW(ListNamed, value), ROW(ListNamed, lists), ROW(ListNamed, posting_address)};

static void named_free(ListNamed *named)
{
    row_free(named_row, named);
}

GPtrArray *list_named(Store *store, const char *setting, GError **error)
{
    g_autoptr(Query)
        query = query_open(store, error,
                           "SELECT s.value, count(*), min(list.list_name || '@' || list.mail_host) FROM list_setting s "
                           "JOIN list ON list.key = s.list WHERE s.name = $1 AND s.value <> '' "
                           "GROUP BY s.value ORDER BY s.value",
                           TEXT(setting));
    return row_all(query, ListNamed, named_row, named_free, error);
}
