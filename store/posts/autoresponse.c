/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/autoresponse.h"

#include "store/store_internal.h"

bool autoresponse_record(Store *store, const Autoresponse *response, bool *due, GError **error)
{
    *due = false;
    int64_t list, changed = 0;
    g_autofree char *address = g_utf8_strdown(response->address, -1);
    g_auto(Write) write = write_begin(store, WRITE_LIST, error);
    if (!write.begun || !list_key(store, response->list_id, &list, error) ||
        !query_run(store, error, &changed,
                   "INSERT INTO autoresponse (list, kind, address, entry, answered_at) VALUES ($1, $2, $3, $4, $5) "
                   "ON CONFLICT (list, kind, address) DO UPDATE SET entry = $4, answered_at = $5 "
                   "WHERE autoresponse.entry = $4 OR autoresponse.answered_at <= $5 - $6",
                   INTEGER(list), TEXT(response->kind), TEXT(address), TEXT(response->entry), INTEGER(response->now),
                   INTEGER(response->grace)))
        return false;
    *due = changed > 0;
    return write_end(&write, error);
}

bool autoresponse_forget(Store *store, const char *list_id, const char *kind, const char *address, GError **error)
{
    int64_t list;
    g_autofree char *lower = g_utf8_strdown(address, -1);
    return list_key(store, list_id, &list, error) &&
           STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "DELETE FROM autoresponse WHERE list = $1 AND kind = $2 AND address = $3",
                                 INTEGER(list), TEXT(kind), TEXT(lower)));
}

bool autoresponse_expire(Store *store, int64_t before, int64_t *removed, GError **error)
{
    return STORE_WRITE_PEOPLE(
        store, error,
        query_run(store, error, removed, "DELETE FROM autoresponse WHERE answered_at < $1", INTEGER(before)));
}
