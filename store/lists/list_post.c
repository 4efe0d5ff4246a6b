/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/list_post.h"

#include "base/fail.h"
#include "store/store_internal.h"

bool list_count_post(Store *store, const char *list_id, int64_t time, int64_t *post_id, GError **error)
{
    int64_t number = -1;
    g_auto(Write) write = write_begin(store, WRITE_LIST, error);
    if (!write.begun || !query_number(store, error, &number,
                                      "UPDATE list SET post_id = post_id + 1, last_post_at = $2 WHERE list_id = $1 "
                                      "RETURNING post_id - 1",
                                      TEXT(list_id), INTEGER(time)))
        return false;
    if (number < 0)
        return fail(error, FAIL_MISSING, "there is no list %s", list_id);
    *post_id = number;
    return write_end(&write, error);
}

bool list_take_number(Store *store, const char *list_id, int64_t time, int64_t post_id, GError **error)
{
    return query_later(store, error, "UPDATE list SET post_id = $3 + 1, last_post_at = $2 WHERE list_id = $1",
                       TEXT(list_id), INTEGER(time), INTEGER(post_id));
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
    int64_t by_another = 0;
    bool done = query_number(store, error, &by_another, knows_sql, TEXT(list_id), TEXT(message_id), TEXT(entry));
    *known = by_another != 0;
    return done;
}

bool list_record_message_id(Store *store, const char *list_id, const SeenMail *seen, bool *known, GError **error)
{
    int64_t list = 0, next = 0, by_this = 1;
    g_auto(Write) write = write_begin(store, WRITE_LIST, error);
    if (!write.begun || !list_key(store, list_id, &list, error))
        return false;
    *known = false;
    if (!query_number(store, error, &next,
                      "INSERT INTO message_id (list, message_id, entry, seen_at, spool) VALUES ($1, $2, $3, $4, $5) "
                      "ON CONFLICT DO NOTHING RETURNING (SELECT post_id FROM list WHERE key = $1)",
                      INTEGER(list), TEXT(seen->message_id), TEXT(seen->entry), INTEGER(seen->time), TEXT(seen->spool)))
        return false;
    if (seen->next)
        *seen->next = next;
    /* Without a row it is there already, perhaps by this very entry, which is then worked again after a crash. */
    if (next == 0 &&
        !query_number(store, error, &by_this, "SELECT entry = $3 FROM message_id WHERE list = $1 AND message_id = $2",
                      INTEGER(list), TEXT(seen->message_id), TEXT(seen->entry)))
        return false;
    *known = !by_this;
    return write_end(&write, error);
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
