/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/pace.h"

#include "store/store_internal.h"

#define HOUR (3600 * CLOCK_SECOND)
#define HALF_LIFE (30 * 24 * HOUR)
#define PARTS 1000 /* of a post, in the column past */

/* A row as it is at one time. */
typedef struct PaceRow {
    int64_t list, first_at, began_at, posts, past;
} PaceRow;

/* Half of it after each HALF_LIFE, and between these times in a straight line. */
static int64_t fade(int64_t past, int64_t age)
{
    int64_t halves = age / HALF_LIFE;
    past = halves < 63 ? past >> halves : 0;
    return past - (int64_t)((double)past / 2 * (double)(age % HALF_LIFE) / (double)HALF_LIFE);
}

/* first_at is 0 where there is no row. */
static bool read_row(Store *store, const char *list_id, const char *folded, int64_t now, PaceRow *row, GError **error)
{
    *row = (PaceRow){.began_at = now};
    if (!list_key(store, list_id, &row->list, error))
        return false;
    g_autoptr(Query) query = query_open(
        store, error, "SELECT first_at, began_at, posts, past FROM pace WHERE list = $1 AND address = $2",
        INTEGER(row->list), TEXT(folded));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *row = (PaceRow){row->list, query_integer(query, 0), query_integer(query, 1), query_integer(query, 2),
                         query_integer(query, 3)};
    /* The hour that is over ends; a clock that was set back ends it, too. */
    int64_t age = now - row->began_at;
    if (age < 0 || age >= HOUR) {
        row->past = fade(MAX(row->past, row->posts * PARTS), MAX(age, 0));
        row->posts = 0;
        row->began_at = now;
    }
    return step != STEP_FAILED;
}

bool pace_find(Store *store, const char *list_id, const char *address, int64_t now, Pace *pace, GError **error)
{
    PaceRow row;
    g_autofree char *folded = g_utf8_strdown(address ? address : "", -1);
    if (!read_row(store, list_id, folded, now, &row, error))
        return false;
    *pace = (Pace){.posts = row.posts, .past = (row.past + PARTS / 2) / PARTS, .first_at = row.first_at};
    return true;
}

bool pace_count(Store *store, const char *list_id, const char *address, int64_t now, GError **error)
{
    g_autofree char *folded = g_utf8_strdown(address ? address : "", -1);
    PaceRow row;
    return STORE_WRITE_LIST(
        store, error,
        read_row(store, list_id, folded, now, &row, error) &&
            query_run(store, error, NULL,
                      "INSERT INTO pace (list, address, first_at, began_at, posts, past) VALUES ($1, $2, $3, $3, 1, 0) "
                      "ON CONFLICT (list, address) DO UPDATE SET began_at = $4, posts = $5, past = $6",
                      INTEGER(row.list), TEXT(folded), INTEGER(now), INTEGER(row.began_at), INTEGER(row.posts + 1),
                      INTEGER(row.past)));
}

bool pace_expire(Store *store, GError **error)
{
    return STORE_EXPIRE(store, "pace", "began_at", clock_now() - PACE_KEPT, error);
}
