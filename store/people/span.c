/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/span.h"

#include <string.h>

void span_user_key(int64_t person, char key[SPAN_USER_KEY_SIZE])
{
    g_snprintf(key, SPAN_USER_KEY_SIZE, "%019" G_GINT64_FORMAT, person);
}

bool span_begin(Store *store, SpanOf of, GError **error)
{
    return query_run(store, error, NULL, "INSERT INTO span (list, kind, begins, total) VALUES ($1, $2, '', 0)",
                     INTEGER(of.list), INTEGER(of.kind));
}

bool span_forget(Store *store, int64_t list, GError **error)
{
    return query_run(store, error, NULL, "DELETE FROM span WHERE list = $1", INTEGER(list));
}

/* The row in the middle of a full span. */
static Query *middle_of(Store *store, SpanOf of, const char *begins, GError **error)
{
    const int64_t half = SPAN_MOST / 2;
    if (of.kind == SPAN_USERS.kind)
        return query_open(store, error,
                          "SELECT key FROM person WHERE key >= $1 AND stands_in = 0 ORDER BY key LIMIT 1 OFFSET $2",
                          INTEGER(g_ascii_strtoll(begins, NULL, 10)), INTEGER(half));
    if (of.kind == SPAN_ADDRESSES.kind)
        return query_open(store, error,
                          "SELECT folded FROM address WHERE folded >= $1 ORDER BY folded LIMIT 1 OFFSET $2",
                          TEXT(begins), INTEGER(half));
    /* One address may be there twice, by itself and as its user's: the second half begins with both. */
    return query_open(store, error,
                      "SELECT folded, (SELECT count(*) FROM member o WHERE o.list = $1 AND o.role = $2 "
                      "AND o.folded = m.folded AND o.by_person < m.by_person) FROM member m "
                      "WHERE list = $1 AND role = $2 AND folded >= $3 ORDER BY folded, by_person LIMIT 1 OFFSET $4",
                      INTEGER(of.list), INTEGER(of.kind), TEXT(begins), INTEGER(half));
}

/* As often as its second half is too large as well. */
static bool halve(Store *store, SpanOf of, const char *begins, int64_t total, GError **error)
{
    char user[SPAN_USER_KEY_SIZE];
    g_autofree char *second = NULL;
    int64_t before = SPAN_MOST / 2;
    {
        g_autoptr(Query) query = middle_of(store, of, begins, error);
        Step step = query_step(query, error);
        if (step != STEP_ROW)
            return step == STEP_DONE;
        if (of.kind == SPAN_USERS.kind) {
            span_user_key(query_integer(query, 0), user);
            second = g_strdup(user);
        } else {
            second = g_strdup(query_text(query, 0));
            before -= of.kind == SPAN_ADDRESSES.kind ? 0 : query_integer(query, 1);
        }
    }
    return query_run(store, error, NULL, "UPDATE span SET total = $4 WHERE list = $1 AND kind = $2 AND begins = $3",
                     INTEGER(of.list), INTEGER(of.kind), TEXT(begins), INTEGER(before)) &&
           query_run(store, error, NULL, "INSERT INTO span (list, kind, begins, total) VALUES ($1, $2, $3, $4)",
                     INTEGER(of.list), INTEGER(of.kind), TEXT(second), INTEGER(total - before)) &&
           (total - before <= SPAN_MOST || halve(store, of, second, total - before, error));
}

bool span_count(Store *store, SpanOf of, const char *key, int64_t delta, GError **error)
{
    g_autofree char *begins = NULL;
    int64_t total = 0;
    if (delta == 0)
        return true;
    {
        g_autoptr(Query) query =
            query_open(store, error,
                       "UPDATE span SET total = total + $4 WHERE list = $1 AND kind = $2 AND begins = "
                       "(SELECT begins FROM span WHERE list = $1 AND kind = $2 AND begins <= $3 "
                       "ORDER BY begins DESC LIMIT 1) RETURNING begins, total",
                       INTEGER(of.list), INTEGER(of.kind), TEXT(key), INTEGER(delta));
        Step step = query_step(query, error);
        if (step != STEP_ROW)
            return step == STEP_DONE;
        total = query_integer(query, 1);
        if (total > SPAN_MOST || total <= 0)
            begins = g_strdup(query_text(query, 0));
        if (query_step(query, error) == STEP_FAILED)
            return false;
    }
    if (total > SPAN_MOST)
        return halve(store, of, begins, total, error);
    return total > 0 || *begins == 0 ||
           query_run(store, error, NULL, "DELETE FROM span WHERE list = $1 AND kind = $2 AND begins = $3",
                     INTEGER(of.list), INTEGER(of.kind), TEXT(begins));
}

bool span_count_sorted(Store *store, SpanOf of, const char *const *keys, size_t count, int each, GError **error)
{
    for (size_t at = 0, first = 0; first < count; first = at) {
        g_autofree char *next = NULL; /* where the next span begins; NULL: this is the last */
        {
            g_autoptr(Query) query = query_open(
                store, error, "SELECT min(begins) FROM span WHERE list = $1 AND kind = $2 AND begins > $3",
                INTEGER(of.list), INTEGER(of.kind), TEXT(keys[first]));
            Step step = query_step(query, error);
            if (step == STEP_FAILED)
                return false;
            next = step == STEP_ROW ? g_strdup(query_text(query, 0)) : NULL;
        }
        while (at < count && (!next || strcmp(keys[at], next) < 0))
            at++;
        if (!span_count(store, of, keys[first], each * (int64_t)(at - first), error))
            return false;
    }
    return true;
}

bool span_count_user(Store *store, int64_t person, int64_t delta, GError **error)
{
    char key[SPAN_USER_KEY_SIZE];
    span_user_key(person, key);
    return span_count(store, SPAN_USERS, key, delta, error);
}

static const char total_sql[] = "SELECT COALESCE(sum(total), -1) FROM span WHERE list = $1 AND kind = $2";

void span_total_soon(Store *store, SpanOf of)
{
    query_soon(store, total_sql, INTEGER(of.list), INTEGER(of.kind));
}

bool span_total(Store *store, SpanOf of, int64_t *total, GError **error)
{
    return query_number(store, error, total, total_sql, INTEGER(of.list), INTEGER(of.kind));
}

bool span_seek(Store *store, SpanOf of, int64_t place, char **begins, int64_t *within, GError **error)
{
    g_autofree char *found = g_strdup("");
    int64_t before = 0, total = 0;
    g_autoptr(Query) query =
        query_open(store, error, "SELECT begins, total FROM span WHERE list = $1 AND kind = $2 ORDER BY begins",
                   INTEGER(of.list), INTEGER(of.kind));
    Step step = STEP_FAILED;
    while (query && place >= before + total && (step = query_step(query, error)) == STEP_ROW) {
        before += total;
        total = query_integer(query, 1);
        g_free(found);
        found = g_strdup(query_text(query, 0));
    }
    *begins = g_steal_pointer(&found);
    *within = place - before;
    return query && step != STEP_FAILED;
}
