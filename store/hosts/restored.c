/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/hosts/restored.h"

#include "base/fail.h"
#include "store/lists/list.h"
#include "store/store_internal.h"

bool restored_newest(Store *store, int64_t *newest, GError **error)
{
    return query_number(store, error, newest,
                        "SELECT COALESCE(MAX(at), 0) FROM (SELECT MAX(recorded_at) AS at FROM effect "
                        "UNION ALL SELECT MAX(seen_at) FROM message_id "
                        "UNION ALL SELECT MAX(held_at) FROM held) AS newest");
}

bool restored_posts(Store *store, int64_t since, RestoredEach *each, void *data, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT list.list_id, message_id.message_id, message_id.entry, "
                                        "message_id.seen_at FROM message_id JOIN list ON list.key = message_id.list "
                                        "WHERE message_id.seen_at > $1 ORDER BY list.list_id, message_id.seen_at",
                                        INTEGER(since));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        const RestoredPost post = {query_text(query, 0), query_text(query, 1), query_text(query, 2),
                                   query_integer(query, 3)};
        if (!each(&post, data))
            return true;
    }
    return step == STEP_DONE;
}

bool restored_raise_number(Store *store, const char *list_id, int64_t number, bool *raised, GError **error)
{
    int64_t rows = 0;
    g_autoptr(List) list = list_by_id(store, list_id, error);
    bool done = list && STORE_WRITE_LIST(store, error,
                                         query_run(store, error, &rows,
                                                   "UPDATE list SET post_id = $2 WHERE list_id = $1 AND post_id < $2",
                                                   TEXT(list_id), INTEGER(number)));
    *raised = rows > 0;
    return done;
}
