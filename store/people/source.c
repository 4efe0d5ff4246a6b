/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/source.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "store/people/user_internal.h"
#include "store/people/member_internal.h"
#include "store/row.h"
#include "store/row_set.h"
#include "store/store_internal.h"

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
    row_free(source_row, source);
}

static GPtrArray *read_all(Query *query, GError **error)
{
    return row_all(query, MemberSource, source_row, member_source_free, error);
}

bool source_add(Store *store, MemberSource *source, GError **error)
{
    int64_t list;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    source->made_at = clock_now();
    source->key = store_key_new(store, error);
    return source->key && list_key(store, source->list_id, &list, error) &&
           query_change_one(
               store, error, fail(error, FAIL_EXISTS, "%s has a source %s already", source->list_id, source->name),
               "INSERT INTO list_source (key, list, name, kind, place, query, bind_dn, password_file, "
               "refresh_interval, welcome, made_at, tried_at, read_at, due_at, given, kept_out, bad, fault, turn) "
               "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 0, $11, 0, 0, 0, '', 0) "
               "ON CONFLICT (list, name) DO NOTHING",
               INTEGER(source->key), INTEGER(list), TEXT(source->name), INTEGER(source->kind), TEXT(source->place),
               TEXT(source->query), TEXT(source->bind_dn), TEXT(source->password_file), INTEGER(source->interval),
               INTEGER(source->welcome), INTEGER(source->made_at)) &&
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
    return row_find(query, MemberSource, source_row, fail(error, FAIL_MISSING, "%s has no source %s", list_id, name),
                    error);
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

bool source_count_alone(Store *store, const MemberSource *source, int64_t *count, GError **error)
{
    return query_number(
        store, error, count,
        "SELECT count(DISTINCT m.key) FROM member_source s JOIN member m ON m.key = s.member WHERE s.source = $1 AND "
        "s.made = 1 AND NOT EXISTS (SELECT 1 FROM member_source o WHERE o.member = s.member AND o.source <> $1)",
        INTEGER(source->key));
}

bool source_count_faults(Store *store, int64_t *count, GError **error)
{
    return query_number_all(store, error, count, "SELECT count(*) FROM list_source WHERE fault <> ''", NULL, 0);
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
    bool same;
    return query_exists(store, error, &same, "SELECT 1 FROM list_source WHERE key = $1 AND turn = $2",
                        INTEGER(source->key), INTEGER(source->turn)) &&
           (same || over(source, error));
}

bool source_end(Store *store, const MemberSource *source, GError **error)
{
    return STORE_WRITE(
        store, error,
        query_change_one(store, error, over(source, error),
                         "UPDATE list_source SET read_at = $3, due_at = $4, given = $5, kept_out = $6, bad = $7, "
                         "fault = $8, bad_lines = $9 WHERE key = $1 AND turn = $2",
                         INTEGER(source->key), INTEGER(source->turn), INTEGER(source->read_at), INTEGER(source->due_at),
                         INTEGER(source->given), INTEGER(source->kept_out), INTEGER(source->bad), TEXT(source->fault),
                         TEXT(source->bad_lines)));
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

bool source_notice_left(Store *store, const char *list_id, int64_t now, GError **error)
{
    int64_t list;
    if (!list_key(store, list_id, &list, error))
        return false;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    return write.begun &&
           query_run(store, error, NULL,
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
                     INTEGER(list)) &&
           write_end(&write, error);
}

bool source_take(Store *store, const MemberSource *source, GPtrArray *fresh, int64_t now, GError **error)
{
    int64_t list;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !list_key(store, source->list_id, &list, error))
        return false;

    /* Addresses that are no members yet become members. */
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

    static const RowSetKind kind = {
        "INSERT INTO member_source (list, folded, source, address, member, made, given_at) VALUES",
        "ON CONFLICT (list, folded, source) DO NOTHING", 7};
    g_autoptr(RowSet) rows = row_set_new(store, &kind);
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

static void given_free(SourceGiven *given)
{
    row_free(given_row, given);
}

GPtrArray *source_of_address(Store *store, const char *list_id, const Mailbox *address, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT s.name, g.given_at, g.made FROM member_source g "
                                        "JOIN list_source s ON s.key = g.source JOIN list l ON l.key = g.list "
                                        "WHERE l.list_id = $1 AND g.folded = $2 ORDER BY g.given_at, s.name",
                                        TEXT(list_id), TEXT(address->folded));
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

bool source_left_find(Store *store, const char *list_id, const Mailbox *address, char **way, int64_t *left_at,
                      GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT o.way, o.left_at FROM source_left o JOIN list l ON l.key = o.list "
                                        "WHERE l.list_id = $1 AND o.folded = $2",
                                        TEXT(list_id), TEXT(address->folded));
    Step step = query_step(query, error);
    *way = step == STEP_ROW ? g_strdup(query_text(query, 0)) : NULL;
    *left_at = step == STEP_ROW ? query_integer(query, 1) : 0;
    return step != STEP_FAILED;
}

/* ---- the stage ---- */

/* lower is the address as the log of a list has it. */
#define STAGE                                                                                         \
    "DROP TABLE IF EXISTS source_line; "                                                              \
    "CREATE TEMPORARY TABLE source_line (folded @text@ NOT NULL PRIMARY KEY, email @text@ NOT NULL, " \
    "lower @text@ NOT NULL, name @text@) @clustered@"

struct SourceStage {
    Store *store;
    int64_t list, source;
    RowSet *lines;  /* to the stage */
    bool open;      /* our transaction, which touches only the stage */
    char *fresh_at; /* folded address: the last of the page before */
    char *gone_at;
};

SourceStage *source_stage_open(Store *store, const MemberSource *source, GError **error)
{
    int64_t list;
    if (!list_key(store, source->list_id, &list, error) || !store_script(store, STAGE, error) ||
        !store_script(store, "BEGIN", error))
        return NULL;
    static const RowSetKind lines = {"INSERT INTO source_line (folded, email, lower, name) VALUES",
                                     "ON CONFLICT (folded) DO NOTHING", 4};
    SourceStage *stage = g_new(SourceStage, 1);
    *stage = (SourceStage){store, list, source->key, row_set_new(store, &lines), true, g_strdup(""), g_strdup("")};
    return stage;
}

void source_stage_free(SourceStage *stage)
{
    if (!stage)
        return;
    if (stage->open)
        store_script(stage->store, "ROLLBACK", NULL);
    store_script(stage->store, "DROP TABLE IF EXISTS source_line", NULL);
    row_set_free(stage->lines);
    g_free(stage->fresh_at);
    g_free(stage->gone_at);
    g_free(stage);
}

bool source_stage_add(SourceStage *stage, const char *address, const char *name, GError **error)
{
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    if (!email_check_added(stage->store, mailbox, error))
        return false;
    g_autofree char *lower = g_utf8_strdown(mailbox->bare, -1), *clean = email_clean_name(name);
    return row_set_add(stage->lines, error, TEXT(mailbox->folded), TEXT(mailbox->bare), TEXT(lower), TEXT(clean));
}

bool source_stage_add_list(SourceStage *stage, const char *list_id, GError **error)
{
    int64_t list;
    return list_key(stage->store, list_id, &list, error) &&
           query_run(stage->store, error, NULL,
                     "INSERT INTO source_line (folded, email, lower, name) SELECT folded, email, lower(email), "
                     "given_name FROM member WHERE list = $1 AND role = 0 ORDER BY folded, by_person "
                     "ON CONFLICT (folded) DO NOTHING",
                     INTEGER(list));
}

bool source_stage_close(SourceStage *stage, SourceCounts *counts, GError **error)
{
    if (!row_set_end(stage->lines, error) || !store_script(stage->store, "COMMIT", error))
        return false;
    stage->open = false;
    g_autoptr(Query) query = query_open(
        stage->store, error,
        "SELECT (SELECT count(*) FROM source_line), (SELECT count(*) FROM member_source WHERE source = $1), "
        "(SELECT count(*) FROM member_source s WHERE s.source = $1 AND NOT EXISTS "
        "(SELECT 1 FROM source_line l WHERE l.folded = s.folded))",
        INTEGER(stage->source));
    if (query_step(query, error) != STEP_ROW)
        return false;
    *counts = (SourceCounts){query_integer(query, 0), query_integer(query, 1), query_integer(query, 2)};
    return true;
}

static void fresh_free(void *data)
{
    SourceFresh *fresh = data;
    g_free(fresh->folded);
    g_free(fresh->address);
    g_free(fresh->name);
    g_free(fresh->log_way);
    g_free(fresh->email);
    g_free(fresh);
}

static void *read_fresh(Query *query)
{
    SourceFresh *fresh = g_new0(SourceFresh, 1);
    *fresh = (SourceFresh){.folded = g_strdup(query_text(query, 0)),
                           .address = g_strdup(query_text(query, 1)),
                           .name = g_strdup(query_text(query, 2)),
                           .left = query_integer(query, 6) != 0,
                           .known = query_is_null(query, 9) ? 0 : query_integer(query, 9),
                           .person = query_is_null(query, 9) ? 0 : query_integer(query, 10),
                           .email = g_strdup(query_text(query, 11))};
    bool given = !query_is_null(query, 4); /* by another source, whose membership may have moved to another address */
    if (given || !query_is_null(query, 3))
        fresh->member = query_integer(query, given ? 4 : 3);
    fresh->made = !query_is_null(query, 5) && query_integer(query, 5) != 0;
    const char *after = query_text(query, 8);
    if (!query_is_null(query, 7) && g_strcmp0(after, "member") != 0 && g_strcmp0(after, SOURCE_WAY) != 0) {
        fresh->log_at = query_integer(query, 7);
        fresh->log_way = g_strdup(after ? after : "");
    }
    return fresh;
}

/* A server that has not looked yet how many rows there are may join each with each; a subquery for one value is no
 * join, and is answered by an index. */
#define OTHER(column) \
    "(SELECT o." column " FROM member_source o WHERE o.list = $1 AND o.folded = l.folded ORDER BY o.source LIMIT 1)"
/* By the name alone: all other rows of the list may be of that kind. */
#define LOGGED(column)                                                                                             \
    "(SELECT g." column " FROM list_log g WHERE g.name = l.lower AND g.list + 0 = $1 AND g.kind || '' = 'member' " \
    "ORDER BY g.key DESC LIMIT 1)"
#define KNOWN(column) "(SELECT a." column " FROM address a WHERE a.folded = l.folded)"
#define THERE                                                                                                          \
    "(SELECT m.key FROM member m WHERE m.list = $1 AND m.role = 0 AND m.folded = l.folded ORDER BY m.by_person LIMIT " \
    "1)"
/* Did a source make the membership, by whatever address? */
#define MADE "(SELECT max(o.made) FROM member_source o WHERE o.member = COALESCE(" OTHER("member") ", " THERE "))"

/* clang-format off */
#define FRESH \
    "SELECT l.folded, l.email, l.name, " THERE ", " OTHER("member") ", " MADE ", " \
    "(SELECT count(*) FROM source_left x WHERE x.list = $1 AND x.folded = l.folded), " LOGGED("made_at") ", " \
    LOGGED("after") ", " KNOWN("key") ", " KNOWN("person") ", " KNOWN("email") " FROM source_line l " \
    "WHERE l.folded > $3 AND (SELECT count(*) FROM member_source s WHERE s.list = $1 AND s.folded = l.folded AND " \
    "s.source = $2) = 0 ORDER BY l.folded LIMIT $4"
/* clang-format on */

GPtrArray *source_stage_fresh(SourceStage *stage, GError **error)
{
    g_autoptr(Query) query = query_open(stage->store, error, FRESH, INTEGER(stage->list), INTEGER(stage->source),
                                        TEXT(stage->fresh_at), INTEGER(SOURCE_PAGE));
    g_autoptr(GPtrArray) page = row_collect(query, read_fresh, fresh_free, error);
    if (page && page->len > 0) {
        const SourceFresh *last = page->pdata[page->len - 1];
        g_free(stage->fresh_at);
        stage->fresh_at = g_strdup(last->folded);
    }
    return g_steal_pointer(&page);
}

static const RowField gone_row[] = {ROW(SourceGone, folded), ROW(SourceGone, member), ROW(SourceGone, member_folded),
                                    ROW(SourceGone, address)};

static void gone_free(SourceGone *gone)
{
    row_free(gone_row, gone);
}

/* A member who took another address may be given by both, and goes with the last one by which a source made it. */
#define KEPT_BY                                                                                           \
    "(SELECT count(*) FROM member_source o WHERE o.member = s.member AND (o.source <> $1 OR (o.made = 1 " \
    "AND o.folded > s.folded) OR (SELECT count(*) FROM source_line k WHERE k.folded = o.folded) > 0))"

GPtrArray *source_stage_gone(SourceStage *stage, GError **error)
{
    g_autoptr(Query) query = query_open(
        stage->store, error,
        "SELECT s.folded, COALESCE((SELECT m.key FROM member m WHERE m.key = s.member AND s.made = 1 AND " KEPT_BY
        " = 0), 0), "
        "(SELECT m.folded FROM member m WHERE m.key = s.member), (SELECT m.email FROM member m WHERE m.key = s.member) "
        "FROM member_source s WHERE s.source = $1 AND s.folded > $2 AND "
        "(SELECT count(*) FROM source_line l WHERE l.folded = s.folded) = 0 ORDER BY s.folded LIMIT $3",
        INTEGER(stage->source), TEXT(stage->gone_at), INTEGER(SOURCE_PAGE));
    g_autoptr(GPtrArray) page = row_all(query, SourceGone, gone_row, gone_free, error);
    if (page && page->len > 0) {
        const SourceGone *last = page->pdata[page->len - 1];
        g_free(stage->gone_at);
        stage->gone_at = g_strdup(last->folded);
    }
    return g_steal_pointer(&page);
}

bool source_stage_drop(SourceStage *stage, GPtrArray *gone, GError **error)
{
    if (gone->len == 0)
        return true;
    g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(OldMembership));
    for (guint at = 0; at < gone->len; at++) {
        const SourceGone *one = gone->pdata[at];
        const OldMembership old = {one->member, one->member_folded};
        if (one->member != 0)
            g_array_append_val(members, old);
    }
    const SourceGone *first = gone->pdata[0], *last = gone->pdata[gone->len - 1];
    return STORE_WRITE(stage->store, error,
                       query_run(stage->store, error, NULL,
                                 "DELETE FROM member_source WHERE source = $1 AND folded >= $2 AND folded <= $3 AND "
                                 "(SELECT count(*) FROM source_line l WHERE l.folded = member_source.folded) = 0",
                                 INTEGER(stage->source), TEXT(first->folded), TEXT(last->folded)) &&
                           member_remove_all(stage->store, stage->list, ROLE_MEMBER, members, error));
}
