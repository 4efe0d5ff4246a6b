/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/list_post.h"

#include "base/fail.h"
#include "store/store_internal.h"

static bool count_post(Store *store, const char *list_id, int64_t time, int64_t *post_id, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "UPDATE list SET post_id = post_id + 1, last_post_at = $2 WHERE list_id = $1 "
                                        "RETURNING post_id - 1",
                                        TEXT(list_id), INTEGER(time));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    if (step == STEP_DONE)
        return fail(error, FAIL_MISSING, "there is no list %s", list_id);
    if (step == STEP_ROW)
        *post_id = query_integer(query, 0);
    return step == STEP_ROW;
}

bool list_count_post(Store *store, const char *list_id, int64_t time, int64_t *post_id, GError **error)
{
    return STORE_WRITE_LIST(store, error, count_post(store, list_id, time, post_id, error));
}

bool list_take_number(Store *store, const char *list_id, int64_t time, int64_t post_id, GError **error)
{
    return query_later(store, error, "UPDATE list SET post_id = $3 + 1, last_post_at = $2 WHERE list_id = $1",
                       TEXT(list_id), INTEGER(time), INTEGER(post_id));
}

/* *next is 0 where the Message-ID is there already. */
static bool insert_message_id(Store *store, int64_t list, const SeenMail *seen, int64_t *next, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error,
        "INSERT INTO message_id (list, message_id, entry, seen_at, spool) VALUES ($1, $2, $3, $4, $5) "
        "ON CONFLICT DO NOTHING RETURNING (SELECT post_id FROM list WHERE key = $1)",
        INTEGER(list), TEXT(seen->message_id), TEXT(seen->entry), INTEGER(seen->time), TEXT(seen->spool));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    *next = step == STEP_ROW ? query_integer(query, 0) : 0;
    return step == STEP_DONE || (step == STEP_ROW && query_step(query, error) == STEP_DONE);
}

static bool record_message_id(Store *store, int64_t list, const SeenMail *seen, bool *known, GError **error)
{
    int64_t next = 0;
    *known = false;
    if (!insert_message_id(store, list, seen, &next, error))
        return false;
    if (seen->next)
        *seen->next = next;
    if (next > 0)
        return true;
    g_autoptr(Query)
        query = query_open(store, error, "SELECT entry = $3 FROM message_id WHERE list = $1 AND message_id = $2",
                           INTEGER(list), TEXT(seen->message_id), TEXT(seen->entry));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    *known = step == STEP_ROW && !query_integer(query, 0);
    return step != STEP_FAILED;
}

static const char knows_sql[] = "SELECT entry <> $3 FROM message_id JOIN list ON list.key = message_id.list "
                                "WHERE list.list_id = $1 AND message_id.message_id = $2";

void list_knows_message_id_soon(Store *store, const char *list_id, const char *message_id, const char *entry)
{
    query_soon(store, knows_sql, TEXT(list_id), TEXT(message_id), TEXT(entry));
}

bool list_knows_message_id(Store *store, const char *list_id, const char *message_id, const char *entry, bool *known,
                           GError **error)
{
    g_autoptr(Query) query = query_open(store, error, knows_sql, TEXT(list_id), TEXT(message_id), TEXT(entry));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    *known = step == STEP_ROW && query_integer(query, 0);
    return step != STEP_FAILED;
}

bool list_record_message_id(Store *store, const char *list_id, const SeenMail *seen, bool *known, GError **error)
{
    int64_t key = 0;
    return STORE_WRITE_LIST(store, error,
                            list_key(store, list_id, &key, error) && record_message_id(store, key, seen, known, error));
}

bool list_move_message_id(Store *store, const char *list_id, const SeenMail *seen, GError **error)
{
    int64_t key;
    return STORE_WRITE_LIST(
        store, error,
        list_key(store, list_id, &key, error) &&
            query_run(
                store, error, NULL,
                "UPDATE message_id SET spool = $4, seen_at = $5 WHERE list = $1 AND message_id = $2 AND entry = $3",
                INTEGER(key), TEXT(seen->message_id), TEXT(seen->entry), TEXT(seen->spool), INTEGER(seen->time)));
}
