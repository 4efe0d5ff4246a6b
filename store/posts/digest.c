/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/digest.h"

#include <string.h>

#include "base/fail.h"
#include "store/people/member_internal.h"
#include "store/row.h"
#include "store/store_internal.h"

#define IS_PLAIN "CASE WHEN " EFFECTIVE_DELIVERY_MODE " = 1 THEN 1 ELSE 0 END"

static const RowField digest_row[] = {ROW(Digest, list_id), ROW(Digest, volume),  ROW(Digest, next_number),
                                      ROW(Digest, sent_at), ROW(Digest, waiting), ROW(Digest, octets),
                                      ROW(Digest, first_at)};

void digest_clear(Digest *digest)
{
    row_clear(digest_row, digest);
}

static const RowField issue_row[] = {ROW(DigestIssue, entry),  ROW(DigestIssue, host),   ROW(DigestIssue, list_id),
                                     ROW(DigestIssue, volume), ROW(DigestIssue, number), ROW(DigestIssue, made_at)};

void digest_issue_free(DigestIssue *issue)
{
    row_free(issue_row, issue);
}

/* ---- where a list stands ---- */

#define COLUMNS "l.list_id, g.volume, g.next_number, g.sent_at, g.waiting, g.octets, g.first_at"

bool digest_read(Store *store, const char *list_id, Digest *digest, GError **error)
{
    int64_t list;
    *digest = (Digest){0};
    if (!list_key(store, list_id, &list, error))
        return false;
    g_autoptr(Query) query =
        query_open(store, error, "SELECT " COLUMNS " FROM digest g JOIN list l ON l.key = g.list WHERE g.list = $1",
                   INTEGER(list));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        row_read(query, 0, digest_row, digest);
    else if (step == STEP_DONE)
        *digest = (Digest){.list_id = g_strdup(list_id), .volume = 1, .next_number = 1};
    return step != STEP_FAILED;
}

bool digest_each(Store *store, DigestEach *each, void *data, GError **error)
{
    g_autoptr(Query) query = query_start(
        store, error, "SELECT " COLUMNS " FROM digest g JOIN list l ON l.key = g.list WHERE g.waiting > 0", NULL, 0);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        g_auto(Digest) digest = {0};
        row_read(query, 0, digest_row, &digest);
        if (!each(&digest, data))
            return true;
    }
    return step == STEP_DONE;
}

/* The list's row, made when it is missing. */
static bool ensure(Store *store, int64_t list, GError **error)
{
    return query_run(store, error, NULL,
                     "INSERT INTO digest (list, volume, next_number, sent_at, waiting, octets, first_at) "
                     "VALUES ($1, 1, 1, 0, 0, 0, 0) ON CONFLICT (list) DO NOTHING",
                     INTEGER(list));
}

bool digest_set_next(Store *store, const char *list_id, int64_t volume, int64_t number, GError **error)
{
    int64_t list;
    return STORE_WRITE(store, error,
                       list_key(store, list_id, &list, error) && ensure(store, list, error) &&
                           query_run(store, error, NULL,
                                     "UPDATE digest SET volume = $2, next_number = $3 WHERE list = $1", INTEGER(list),
                                     INTEGER(volume), INTEGER(number)));
}

/* The first looks in the index member_digest; the tables of the others are small, and SQLite begins a CROSS JOIN with
 * the first. */
static const char wanted_sql[] =
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM member WHERE list = $1 AND role + 0 = 0 AND delivery_mode > 0) "
    "OR EXISTS (SELECT 1 FROM person_preference p CROSS JOIN member m "
    "WHERE m.person = p.person AND p.delivery_mode > 0 AND m.list + 0 = $1) "
    "OR EXISTS (SELECT 1 FROM address_preference a CROSS JOIN address d CROSS JOIN member m "
    "WHERE d.key = a.address AND m.person = d.person AND a.delivery_mode > 0 AND m.list + 0 = $1)";

void digest_wanted_soon(Store *store, const char *list_id)
{
    int64_t list;
    if (list_key_soon(store, list_id, &list))
        query_soon(store, wanted_sql, INTEGER(list));
}

bool digest_wanted(Store *store, const char *list_id, bool *wanted, GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error))
        return false;
    return query_exists(store, error, wanted, wanted_sql, INTEGER(list));
}

/* ---- collecting ---- */

bool digest_collect(Store *store, const char *list_id, GBytes *message, int64_t time, GError **error)
{
    int64_t list, key;
    size_t length;
    const void *octets = g_bytes_get_data(message, &length);
    return STORE_WRITE(store, error,
                       list_key(store, list_id, &list, error) && (key = store_key_new(store, error)) != 0 &&
                           ensure(store, list, error) &&
                           query_run(store, error, NULL,
                                     "INSERT INTO digest_post (key, list, message) VALUES ($1, $2, $3)", INTEGER(key),
                                     INTEGER(list), BLOB(octets ? octets : "", length)) &&
                           query_run(store, error, NULL,
                                     "UPDATE digest SET first_at = CASE WHEN waiting = 0 THEN $3 ELSE first_at END, "
                                     "waiting = waiting + 1, octets = octets + $2 WHERE list = $1",
                                     INTEGER(list), INTEGER(length), INTEGER(time)));
}

/* ---- issues ---- */

bool digest_issue_open(Store *store, const DigestIssue *issue, GError **error)
{
    int64_t list;
    return STORE_WRITE(
        store, error,
        list_key(store, issue->list_id, &list, error) &&
            query_run(store, error, NULL,
                      "INSERT INTO digest_issue (entry, host, list, volume, number, made_at) "
                      "VALUES ($1, $2, $3, $4, $5, $6)",
                      TEXT(issue->entry), TEXT(issue->host), INTEGER(list), INTEGER(issue->volume),
                      INTEGER(issue->number), INTEGER(issue->made_at)) &&
            query_run(store, error, NULL, "UPDATE digest_post SET issue = $2 WHERE list = $1 AND issue IS NULL",
                      INTEGER(list), TEXT(issue->entry)) &&
            query_run(store, error, NULL, "UPDATE digest_last SET issue = $2 WHERE list = $1 AND issue IS NULL",
                      INTEGER(list), TEXT(issue->entry)) &&
            query_run(store, error, NULL,
                      "UPDATE digest SET volume = $2, next_number = $3 + 1, sent_at = $4, waiting = 0, octets = 0, "
                      "first_at = 0 WHERE list = $1",
                      INTEGER(list), INTEGER(issue->volume), INTEGER(issue->number), INTEGER(issue->made_at)));
}

#define ISSUE \
    "SELECT i.entry, i.host, l.list_id, i.volume, i.number, i.made_at FROM digest_issue i " \
    "JOIN list l ON l.key = i.list "

bool digest_issue_find(Store *store, const char *entry, DigestIssue **issue, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, ISSUE "WHERE i.entry = $1", TEXT(entry));
    Step step;
    *issue = row_next(query, DigestIssue, issue_row, &step, error);
    return step != STEP_FAILED;
}

GPtrArray *digest_issue_all(Store *store, const char *host, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, ISSUE "WHERE i.host = $1", TEXT(host));
    return row_all(query, DigestIssue, issue_row, digest_issue_free, error);
}

bool digest_issue_settle(Store *store, const char *entry, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "DELETE FROM digest_post WHERE issue = $1 AND list IN "
                                 "(SELECT list FROM digest_issue WHERE entry = $1)",
                                 TEXT(entry)) &&
                           query_run(store, error, NULL, "DELETE FROM digest_last WHERE issue = $1", TEXT(entry)) &&
                           query_run(store, error, NULL, "DELETE FROM digest_issue WHERE entry = $1", TEXT(entry)));
}

#define OF_ISSUE "list = (SELECT list FROM digest_issue WHERE entry = $1)"

bool digest_issue_withdraw(Store *store, const char *entry, GError **error)
{
    return STORE_WRITE(
        store, error,
        query_run(store, error, NULL, "UPDATE digest_post SET issue = NULL WHERE issue = $1 AND " OF_ISSUE,
                  TEXT(entry)) &&
            query_run(store, error, NULL, "UPDATE digest_last SET issue = NULL WHERE issue = $1", TEXT(entry)) &&
            query_run(store, error, NULL,
                      "UPDATE digest SET waiting = (SELECT count(*) FROM digest_post p WHERE p.list = digest.list AND "
                      "p.issue IS NULL), octets = (SELECT COALESCE(sum(length(p.message)), 0) FROM digest_post p WHERE "
                      "p.list = digest.list AND p.issue IS NULL), "
                      "first_at = (SELECT i.made_at FROM digest_issue i WHERE i.entry = $1) WHERE " OF_ISSUE,
                      TEXT(entry)) &&
            query_run(store, error, NULL, "DELETE FROM digest_issue WHERE entry = $1", TEXT(entry)));
}

/* ---- the posts of an issue ---- */

struct DigestCursor {
    Query *query;
};

DigestCursor *digest_cursor_open(Store *store, const DigestIssue *issue, GError **error)
{
    int64_t list;
    if (!list_key(store, issue->list_id, &list, error))
        return NULL;
    /* query_open() binds borrowed memory: the issue outlives its cursor. */
    Query *query =
        query_open(store, error, "SELECT message FROM digest_post WHERE list = $1 AND issue = $2 ORDER BY key",
                   INTEGER(list), TEXT(issue->entry));
    DigestCursor *cursor = query ? g_new0(DigestCursor, 1) : NULL;
    if (cursor)
        cursor->query = query;
    return cursor;
}

GBytes *digest_cursor_next(DigestCursor *cursor, GError **error)
{
    if (cursor->query && query_step(cursor->query, error) == STEP_ROW)
        return query_blob(cursor->query, 0);
    g_clear_pointer(&cursor->query, query_free); /* the end: a further step would start again */
    return NULL;
}

void digest_cursor_free(DigestCursor *cursor)
{
    if (!cursor)
        return;
    query_free(cursor->query);
    g_free(cursor);
}

/* ---- who gets it ---- */

static void group_free(void *data)
{
    DigestGroup *group = data;
    g_free(group->language);
    g_strfreev(group->last);
    g_free(group);
}

/* The group of that format and language, made when it is missing. */
static DigestGroup *find_group(GPtrArray *groups, bool plain, const char *language)
{
    for (guint at = 0; at < groups->len; at++) {
        DigestGroup *group = groups->pdata[at];
        if (group->plain == plain && strcmp(group->language, language) == 0)
            return group;
    }
    DigestGroup *group = g_new0(DigestGroup, 1);
    group->plain = plain;
    group->language = g_strdup(language);
    g_ptr_array_add(groups, group);
    return group;
}

GPtrArray *digest_groups(Store *store, const DigestIssue *issue, GError **error)
{
    int64_t list;
    if (!list_key(store, issue->list_id, &list, error))
        return NULL;
    g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func(group_free);
    g_autoptr(Query) members = query_open(store, error,
                                          "SELECT " IS_PLAIN ", " EFFECTIVE_PREFERRED_LANGUAGE ", count(*)" MEMBER_JOINS
                                          "WHERE m.list = $1 AND m.role = 0 AND " EFFECTIVE_DELIVERY_MODE " > 0 "
                                          "AND " EFFECTIVE_DELIVERY_STATUS " = 0 GROUP BY 1, 2 ORDER BY 1, 2",
                                          INTEGER(list));
    Step step;
    while ((step = query_step(members, error)) == STEP_ROW)
        find_group(groups, query_integer(members, 0) != 0, query_text(members, 1))->members = query_integer(members, 2);
    if (step != STEP_DONE)
        return NULL;

    /* Members who left their mode while posts waited get a last one in that mode. */
    g_autoptr(Query)
        last = query_open(store, error,
                          "SELECT DISTINCT CASE WHEN o.mode = 1 THEN 1 ELSE 0 END, " EFFECTIVE_PREFERRED_LANGUAGE
                          ", m.email" MEMBER_JOINS "JOIN digest_last o ON o.list = m.list AND o.address = m.address "
                          "WHERE m.list = $1 AND m.role = 0 AND o.issue = $2 AND " EFFECTIVE_DELIVERY_STATUS " = 0 "
                          "AND " EFFECTIVE_DELIVERY_MODE " = 0",
                          INTEGER(list), TEXT(issue->entry));
    while ((step = query_step(last, error)) == STEP_ROW) {
        DigestGroup *group = find_group(groups, query_integer(last, 0) != 0, query_text(last, 1));
        guint count = group->last ? g_strv_length(group->last) : 0;
        group->last = g_renew(char *, group->last, count + 2);
        group->last[count] = g_strdup(query_text(last, 2));
        group->last[count + 1] = NULL;
    }
    return step == STEP_DONE ? g_steal_pointer(&groups) : NULL;
}

/* ---- one last digest ---- */

bool digest_leaving_begin(Store *store, int64_t person, int64_t list, GError **error)
{
    return query_run(store, error, NULL,
                     "INSERT INTO digest_last (list, address, mode) "
                     "SELECT m.list, m.address, " EFFECTIVE_DELIVERY_MODE MEMBER_JOINS
                     "JOIN digest g ON g.list = m.list "
                     "WHERE m.person = $1 AND m.role = 0 AND g.waiting > 0 AND ($2 = 0 OR m.list = $2) "
                     "AND " EFFECTIVE_DELIVERY_MODE " > 0 AND " EFFECTIVE_DELIVERY_STATUS " = 0 "
                     "ON CONFLICT (list, address) DO NOTHING",
                     INTEGER(person), INTEGER(list));
}

bool digest_leaving_end(Store *store, int64_t person, GError **error)
{
    return query_run(store, error, NULL,
                     "DELETE FROM digest_last WHERE issue IS NULL AND (list, address) IN "
                     "(SELECT m.list, m.address" MEMBER_JOINS
                     "WHERE m.person = $1 AND m.role = 0 AND " EFFECTIVE_DELIVERY_MODE " > 0)",
                     INTEGER(person));
}
