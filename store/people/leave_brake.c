/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/leave_brake.h"

#include "store/store_internal.h"

bool leave_brake_find(Store *store, const char *list_id, const char *domain, LeaveBrake *brake, GError **error)
{
    int64_t list;
    *brake = (LeaveBrake){0};
    if (!list_key(store, list_id, &list, error))
        return false;
    g_autoptr(Query) query = query_open(
        store, error, "SELECT closed_until, gone, waiting FROM leave_brake WHERE list = $1 AND domain = $2",
        INTEGER(list), TEXT(domain));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *brake = (LeaveBrake){query_integer(query, 0), query_integer(query, 1), query_integer(query, 2)};
    return step != STEP_FAILED;
}

bool leave_brake_close(Store *store, const char *list_id, const char *domain, const LeaveBrake *brake, int64_t now,
                       GError **error)
{
    int64_t list;
    return STORE_WRITE(
        store, error,
        list_key(store, list_id, &list, error) &&
            query_run(store, error, NULL,
                      "INSERT INTO leave_brake (list, domain, closed_at, closed_until, gone, waiting, told_at) "
                      "VALUES ($1, $2, $5, $3, $4, 1, 0) ON CONFLICT (list, domain) DO UPDATE SET "
                      "closed_at = CASE WHEN leave_brake.closed_until > $5 THEN leave_brake.closed_at ELSE $5 END, "
                      "gone = CASE WHEN leave_brake.closed_until > $5 THEN leave_brake.gone ELSE $4 END, "
                      "waiting = CASE WHEN leave_brake.closed_until > $5 THEN leave_brake.waiting + 1 ELSE 1 END, "
                      "closed_until = $3",
                      INTEGER(list), TEXT(domain), INTEGER(brake->closed_until), INTEGER(brake->gone), INTEGER(now)));
}

bool leave_brake_tell(Store *store, const char *list_id, const char *domain, int64_t now, bool *due, GError **error)
{
    int64_t list, changed = 0;
    if (!list_key(store, list_id, &list, error))
        return false;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !query_run(store, error, &changed,
                                   "UPDATE leave_brake SET told_at = $4 WHERE list = $1 AND domain = $2 AND NOT EXISTS "
                                   "(SELECT 1 FROM leave_brake o WHERE o.list = $1 AND o.told_at > $3)",
                                   INTEGER(list), TEXT(domain), INTEGER(now - LEAVE_BRAKE_TOLD), INTEGER(now)))
        return false;
    *due = changed > 0;
    return write_end(&write, error);
}

bool leave_brake_sum(Store *store, int64_t now, int64_t *closed, int64_t *waiting, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, "SELECT count(*), COALESCE(sum(waiting), 0) FROM leave_brake WHERE closed_until > $1",
        INTEGER(now));
    if (query_step(query, error) != STEP_ROW)
        return false;
    *closed = query_integer(query, 0);
    *waiting = query_integer(query, 1);
    return true;
}

/* By the key of members, in which addresses stand as "example.com jo"; behind the blank comes '!'. */
bool leave_brake_members(Store *store, const char *list_id, const char *domain, int64_t most, int64_t *count,
                         GError **error)
{
    int64_t list;
    g_autofree char *first = g_strconcat(domain, " ", NULL), *end = g_strconcat(domain, "!", NULL);
    if (!list_key(store, list_id, &list, error))
        return false;
    return query_number(store, error, count,
                        "SELECT count(*) FROM (SELECT 1 FROM member WHERE list = $1 AND role = 0 "
                        "AND folded >= $2 AND folded < $3 LIMIT $4) AS found",
                        INTEGER(list), TEXT(first), TEXT(end), INTEGER(most));
}

bool leave_brake_expire(Store *store, int64_t before, GError **error)
{
    return STORE_EXPIRE(store, "leave_brake", "closed_until", before, error);
}
