/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/vacation.h"

#include "base/fail.h"
#include "store/store_internal.h"

/* 1 is DELIVERY_BY_USER. Who was disabled for another reason stays so. */
#define AWAY "UPDATE member SET delivery_status = 1 WHERE COALESCE(delivery_status, 0) = 0 AND key "
#define BACK "UPDATE member SET delivery_status = NULL WHERE delivery_status = 1 AND key "

static bool member_of(const char *member_id, int64_t *member, GError **error)
{
    return store_id_key(member_id, member) ||
           fail(error, FAIL_MISSING, "there is no member with the id %s", member_id);
}

bool vacation_turn(Store *store, int64_t now, int64_t *changed, GError **error)
{
    int64_t begun = 0, ended = 0;
    bool done = STORE_WRITE(
        store, error,
        query_run(store, error, NULL, BACK "IN (SELECT member FROM vacation WHERE ends_at <= $1 AND begun = 1)",
                  INTEGER(now)) &&
            query_run(store, error, &ended, "DELETE FROM vacation WHERE ends_at <= $1", INTEGER(now)) &&
            query_run(store, error, NULL, AWAY "IN (SELECT member FROM vacation WHERE begins_at <= $1 AND begun = 0)",
                      INTEGER(now)) &&
            query_run(store, error, &begun, "UPDATE vacation SET begun = 1 WHERE begins_at <= $1 AND begun = 0",
                      INTEGER(now)));
    if (changed)
        *changed = begun + ended;
    return done;
}

static bool set(Store *store, int64_t member, const Vacation *vacation, int64_t now, GError **error)
{
    {
        g_autoptr(Query) query = query_open(store, error, "SELECT 1 FROM member WHERE key = $1", INTEGER(member));
        Step step = query ? query_step(query, error) : STEP_FAILED;
        if (step != STEP_ROW)
            return step == STEP_DONE && fail(error, FAIL_MISSING, "the member is gone");
    }
    return query_run(store, error, NULL,
                     BACK "= $1 AND EXISTS (SELECT 1 FROM vacation WHERE member = $1 AND begun = 1)",
                     INTEGER(member)) &&
           query_run(store, error, NULL,
                     "INSERT INTO vacation (member, begins_at, ends_at, begun) VALUES ($1, $2, $3, 0) "
                     "ON CONFLICT (member) DO UPDATE SET begins_at = excluded.begins_at, ends_at = excluded.ends_at, "
                     "begun = 0",
                     INTEGER(member), INTEGER(vacation->begins_at), INTEGER(vacation->ends_at)) &&
           vacation_turn(store, now, NULL, error);
}

bool vacation_set(Store *store, const char *member_id, int64_t begins_at, int64_t ends_at, int64_t now, GError **error)
{
    int64_t member;
    Vacation vacation = {begins_at, ends_at, false};
    if (ends_at <= begins_at || ends_at <= now)
        return fail(error, FAIL_NEVER, "a vacation ends after it begins, and in the future");
    if (!member_of(member_id, &member, error))
        return false;
    return STORE_WRITE(store, error, set(store, member, &vacation, now, error));
}

bool vacation_end(Store *store, const char *member_id, GError **error)
{
    int64_t member;
    if (!member_of(member_id, &member, error))
        return false;
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 BACK "= $1 AND EXISTS (SELECT 1 FROM vacation WHERE member = $1 AND begun = 1)",
                                 INTEGER(member)) &&
                           query_run(store, error, NULL, "DELETE FROM vacation WHERE member = $1", INTEGER(member)));
}

bool vacation_find(Store *store, const char *member_id, Vacation *vacation, GError **error)
{
    int64_t member;
    *vacation = (Vacation){0};
    if (!member_of(member_id, &member, error))
        return false;
    g_autoptr(Query) query = query_open(
        store, error, "SELECT begins_at, ends_at, begun FROM vacation WHERE member = $1", INTEGER(member));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    if (step == STEP_ROW)
        *vacation = (Vacation){query_integer(query, 0), query_integer(query, 1), query_integer(query, 2) != 0};
    return step != STEP_FAILED;
}
