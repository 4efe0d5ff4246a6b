/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/source.h"

#include "base/clock.h"
#include "base/fail.h"
#include "store/people/email.h"
#include "store/people/member_internal.h"
#include "store/row.h"
#include "store/row_set.h"

static const char *const kind_names[] = {"file", "url", "list", "sql", "ldap"};

const char *source_kind_text(SourceKind kind)
{
    return kind < G_N_ELEMENTS(kind_names) ? kind_names[kind] : "unknown";
}

bool source_kind_parse(const char *text, SourceKind *kind)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(kind_names); i++)
        if (g_ascii_strcasecmp(kind_names[i], text) == 0) {
            *kind = (SourceKind)i;
            return true;
        }
    return false;
}

#define SELECT                                                                                                    \
    "SELECT s.key, l.list_id, s.name, s.kind, s.place, s.query, s.bind_dn, s.password_file, s.refresh_interval, " \
    "s.welcome, s.made_at, s.tried_at, s.read_at, s.due_at, s.given, s.kept_out, s.bad, s.fault, s.turn, "        \
    "s.bad_lines "                                                                                                \
    "FROM list_source s JOIN list l ON l.key = s.list "

static const RowField source_row[] = {
    ROW(MemberSource, key),      ROW(MemberSource, list_id),       ROW(MemberSource, name),
    ROW(MemberSource, kind),     ROW(MemberSource, place),         ROW(MemberSource, query),
    ROW(MemberSource, bind_dn),  ROW(MemberSource, password_file), ROW(MemberSource, interval),
    ROW(MemberSource, welcome),  ROW(MemberSource, made_at),       ROW(MemberSource, tried_at),
    ROW(MemberSource, read_at),  ROW(MemberSource, due_at),        ROW(MemberSource, given),
    ROW(MemberSource, kept_out), ROW(MemberSource, bad),           ROW(MemberSource, fault),
    ROW(MemberSource, turn),     ROW(MemberSource, bad_lines)};

void member_source_free(MemberSource *source)
{
    if (!source)
        return;
    row_clear(source_row, source);
    g_free(source);
}

static GPtrArray *read_all(Query *query, GError **error)
{
    return row_all(query, MemberSource, source_row, (GDestroyNotify)member_source_free, error);
}

bool source_add(Store *store, MemberSource *source, GError **error)
{
    int64_t list, added = 0;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    source->made_at = clock_now();
    source->key = store_key_new(store, error);
    return source->key && list_key(store, source->list_id, &list, error) &&
           query_run(
               store, error, &added,
               "INSERT INTO list_source (key, list, name, kind, place, query, bind_dn, password_file, "
               "refresh_interval, welcome, made_at, tried_at, read_at, due_at, given, kept_out, bad, fault, turn) "
               "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 0, $11, 0, 0, 0, '', 0) "
               "ON CONFLICT (list, name) DO NOTHING",
               INTEGER(source->key), INTEGER(list), TEXT(source->name), INTEGER(source->kind), TEXT(source->place),
               TEXT(source->query), TEXT(source->bind_dn), TEXT(source->password_file), INTEGER(source->interval),
               INTEGER(source->welcome), INTEGER(source->made_at)) &&
           (added > 0 || fail(error, FAIL_EXISTS, "%s has a source %s already", source->list_id, source->name)) &&
           write_end(&write, error);
}

bool source_change(Store *store, const MemberSource *source, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "UPDATE list_source SET place = $2, query = $3, bind_dn = $4, password_file = $5, "
                                 "refresh_interval = $6, welcome = $7, due_at = $8, turn = turn + 1 WHERE key = $1",
                                 INTEGER(source->key), TEXT(source->place), TEXT(source->query), TEXT(source->bind_dn),
                                 TEXT(source->password_file), INTEGER(source->interval), INTEGER(source->welcome),
                                 INTEGER(clock_now())));
}

MemberSource *source_find(Store *store, const char *list_id, const char *name, GError **error)
{
    g_autoptr(Query)
        query = query_open(store, error, SELECT "WHERE l.list_id = $1 AND s.name = $2", TEXT(list_id), TEXT(name));
    g_autoptr(GPtrArray) all = read_all(query, error);
    if (all && all->len == 0)
        fail(error, FAIL_MISSING, "%s has no source %s", list_id, name);
    return all && all->len > 0 ? g_ptr_array_steal_index(all, 0) : NULL;
}

GPtrArray *source_all(Store *store, const char *list_id, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, SELECT "WHERE $1 IS NULL OR l.list_id = $1 ORDER BY l.list_id, s.name", TEXT(list_id));
    return read_all(query, error);
}

/* One that was tried in the future, by more than hosts' clocks differ, has its time from a clock that was ahead. */
GPtrArray *source_due(Store *store, int64_t now, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, SELECT "WHERE s.due_at <= $1 OR s.tried_at - 60000000 > $1 ORDER BY s.due_at, s.key",
        INTEGER(now));
    return read_all(query, error);
}

bool source_set_due(Store *store, const MemberSource *source, int64_t when, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL, "UPDATE list_source SET due_at = $2 WHERE key = $1",
                                 INTEGER(source->key), INTEGER(when)));
}

bool source_remove(Store *store, const MemberSource *source, GError **error)
{
    return STORE_WRITE(
        store, error,
        query_run(store, error, NULL, "DELETE FROM member_source WHERE source = $1", INTEGER(source->key)) &&
            query_run(store, error, NULL, "DELETE FROM list_source WHERE key = $1", INTEGER(source->key)));
}

static bool read_count(Query *query, int64_t *count, GError **error)
{
    if (query_step(query, error) != STEP_ROW)
        return false;
    *count = query_integer(query, 0);
    return true;
}

bool source_count_alone(Store *store, const MemberSource *source, int64_t *count, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error,
        "SELECT count(DISTINCT m.key) FROM member_source s JOIN member m ON m.key = s.member WHERE s.source = $1 AND "
        "s.made = 1 AND NOT EXISTS (SELECT 1 FROM member_source o WHERE o.member = s.member AND o.source <> $1)",
        INTEGER(source->key));
    return read_count(query, count, error);
}

bool source_count_faults(Store *store, int64_t *count, GError **error)
{
    g_autoptr(Query) query = query_start(store, error, "SELECT count(*) FROM list_source WHERE fault <> ''", NULL, 0);
    return read_count(query, count, error);
}

/* ---- the turn of a refresh ---- */

/* Begin a turn, and read the source again: the caller's copy may be older than its settings, since a timer reads many,
 * one after the other. */
bool source_begin(Store *store, MemberSource *source, int64_t now, GError **error)
{
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun ||
        !query_run(store, error, NULL, "UPDATE list_source SET turn = turn + 1, tried_at = $2 WHERE key = $1",
                   INTEGER(source->key), INTEGER(now)))
        return false;
    g_autoptr(Query) query = query_open(store, error, SELECT "WHERE s.key = $1", INTEGER(source->key));
    Step step = query_step(query, error);
    if (step != STEP_ROW)
        return step == STEP_DONE &&
               fail(error, FAIL_MISSING, "%s has no source %s any more", source->list_id, source->name);
    row_clear(source_row, source);
    row_read(query, 0, source_row, source);
    return query_step(query, error) == STEP_DONE && write_end(&write, error);
}

static bool over(const MemberSource *source, GError **error)
{
    return fail(error, FAIL_RACE,
                "the source %s of %s was set, or a later refresh of it has begun, which goes on "
                "instead",
                source->name, source->list_id);
}

bool source_check_turn(Store *store, const MemberSource *source, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, "SELECT 1 FROM list_source WHERE key = $1 AND turn = $2",
                                        INTEGER(source->key), INTEGER(source->turn));
    Step step = query_step(query, error);
    return step == STEP_ROW || (step == STEP_DONE && over(source, error));
}

bool source_end(Store *store, const MemberSource *source, GError **error)
{
    int64_t changed = 0;
    return STORE_WRITE(
        store, error,
        query_run(store, error, &changed,
                  "UPDATE list_source SET read_at = $3, due_at = $4, given = $5, kept_out = $6, bad = $7, "
                  "fault = $8, bad_lines = $9 WHERE key = $1 AND turn = $2",
                  INTEGER(source->key), INTEGER(source->turn), INTEGER(source->read_at), INTEGER(source->due_at),
                  INTEGER(source->given), INTEGER(source->kept_out), INTEGER(source->bad), TEXT(source->fault),
                  TEXT(source->bad_lines)) &&
            (changed > 0 || over(source, error)));
}

/* ---- who left ---- */

#define MEMBERSHIP(folded)                                                                                         \
    "(SELECT m.key FROM member m WHERE m.list = $1 AND m.role = 0 AND m.folded = " folded " ORDER BY m.by_person " \
    "LIMIT 1)"
#define LIVES "EXISTS (SELECT 1 FROM member m WHERE m.key = member_source.member)"
/* The newest row of the log by which the person is no member any more; it is found by the name alone, since all other
 * rows of the list may be of that kind. */
#define LEFT(column, address)                                                                       \
    "(SELECT " column " FROM list_log g WHERE g.name = lower(" address ") AND g.list + 0 = $1 AND " \
    "g.kind || '' = 'member' AND COALESCE(g.after, '') <> 'member' ORDER BY g.key DESC LIMIT 1)"

static bool notice(Store *store, int64_t list, int64_t now, GError **error)
{
    return query_run(store, error, NULL,
                     "UPDATE member_source SET member = " MEMBERSHIP(
                         "member_source.folded") ", made = 0 "
                                                 "WHERE list = $1 AND NOT " LIVES
                                                 " AND EXISTS " MEMBERSHIP("member_source.folded"),
                     INTEGER(list)) &&
           query_run(store, error, NULL,
                     "INSERT INTO source_left (list, folded, address, way, left_at) "
                     "SELECT list, folded, address, COALESCE(" LEFT(
                         "COALESCE(g.after, '')",
                         "address") ", ''), "
                                    "COALESCE(" LEFT("g.made_at", "address") ", $2) FROM member_source "
                                                                             "WHERE list = $1 AND NOT " LIVES
                                                                             " ON CONFLICT (list, folded) DO NOTHING",
                     INTEGER(list), INTEGER(now)) &&
           query_run(store, error, NULL, "DELETE FROM member_source WHERE list = $1 AND NOT " LIVES, INTEGER(list)) &&
           query_run(store, error, NULL,
                     "DELETE FROM source_left WHERE list = $1 AND EXISTS " MEMBERSHIP("source_left.folded"),
                     INTEGER(list));
}

bool source_notice_left(Store *store, const char *list_id, int64_t now, GError **error)
{
    int64_t list;
    return list_key(store, list_id, &list, error) && STORE_WRITE(store, error, notice(store, list, now, error));
}

/* Make members of the addresses that are none. */
static bool join(Store *store, const MemberSource *source, GPtrArray *fresh, GError **error)
{
    g_autoptr(GPtrArray) members = g_ptr_array_new_with_free_func(g_free), of = g_ptr_array_new();
    for (guint at = 0; at < fresh->len; at++) {
        SourceFresh *one = fresh->pdata[at];
        if (one->member != 0)
            continue;
        NewMembership *new = g_new(NewMembership, 1);
        *new = (NewMembership){
            one->folded, one->email ? one->email : one->address, one->name, one->known, one->person, NULL, 0};
        g_ptr_array_add(members, new);
        g_ptr_array_add(of, one);
    }
    if (!member_add_all(store, source->list_id, ROLE_MEMBER, members, error))
        return false;
    for (guint at = 0; at < of->len; at++) {
        SourceFresh *one = of->pdata[at];
        one->member = ((NewMembership *)members->pdata[at])->key;
        one->made = true;
    }
    return true;
}

bool source_take(Store *store, const MemberSource *source, GPtrArray *fresh, int64_t now, GError **error)
{
    int64_t list;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    static const RowSetKind kind = {
        "INSERT INTO member_source (list, folded, source, address, member, made, given_at) VALUES",
        "ON CONFLICT (list, folded, source) DO NOTHING", 7};
    g_autoptr(RowSet) rows = row_set_new(store, &kind);
    if (!list_key(store, source->list_id, &list, error) || !join(store, source, fresh, error))
        return false;
    for (guint at = 0; at < fresh->len; at++) {
        const SourceFresh *one = fresh->pdata[at];
        if (!row_set_add(rows, error, INTEGER(list), TEXT(one->folded), INTEGER(source->key), TEXT(one->address),
                         INTEGER(one->member), INTEGER(one->made), INTEGER(now)))
            return false;
    }
    return row_set_end(rows, error) && write_end(&write, error);
}

bool source_keep_out(Store *store, const MemberSource *source, const SourceFresh *fresh, GError **error)
{
    int64_t list;
    return STORE_WRITE(
        store, error,
        list_key(store, source->list_id, &list, error) &&
            query_run(store, error, NULL,
                      "INSERT INTO source_left (list, folded, address, way, left_at) VALUES ($1, $2, $3, $4, $5) "
                      "ON CONFLICT (list, folded) DO NOTHING",
                      INTEGER(list), TEXT(fresh->folded), TEXT(fresh->address), TEXT(fresh->log_way),
                      INTEGER(fresh->log_at)));
}

/* ---- why ---- */

static const RowField given_row[] = {ROW(SourceGiven, name), ROW(SourceGiven, given_at), ROW(SourceGiven, made)};

static void given_free(void *data)
{
    row_clear(given_row, data);
    g_free(data);
}

GPtrArray *source_of_address(Store *store, const char *list_id, const char *address, GError **error)
{
    g_autofree char *folded = email_folded(address);
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT s.name, g.given_at, g.made FROM member_source g "
                                        "JOIN list_source s ON s.key = g.source JOIN list l ON l.key = g.list "
                                        "WHERE l.list_id = $1 AND g.folded = $2 ORDER BY g.given_at, s.name",
                                        TEXT(list_id), TEXT(folded));
    return row_all(query, SourceGiven, given_row, given_free, error);
}

char **source_of_member(Store *store, const char *id, GError **error)
{
    int64_t key = 0;
    store_id_key(id, &key);
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT s.name FROM member_source g JOIN list_source s ON s.key = g.source "
                                        "WHERE g.member = $1 AND g.made = 1 ORDER BY s.name",
                                        INTEGER(key));
    return query_texts(query, error);
}

bool source_left_find(Store *store, const char *list_id, const char *address, char **way, int64_t *left_at,
                      GError **error)
{
    g_autofree char *folded = email_folded(address);
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT o.way, o.left_at FROM source_left o JOIN list l ON l.key = o.list "
                                        "WHERE l.list_id = $1 AND o.folded = $2",
                                        TEXT(list_id), TEXT(folded));
    Step step = query_step(query, error);
    *way = step == STEP_ROW ? g_strdup(query_text(query, 0)) : NULL;
    *left_at = step == STEP_ROW ? query_integer(query, 1) : 0;
    return step != STEP_FAILED;
}
