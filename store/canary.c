/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/canary.h"

#include "store/row.h"

static const RowField fields[] = {
    ROW(Canary, slice), ROW(Canary, mail), ROW(Canary, sent_at), ROW(Canary, back_at), ROW(Canary, missing_since),
};

void canary_free(Canary *canary)
{
    if (canary)
        row_clear(fields, canary);
    g_free(canary);
}

bool canary_sent(Store *store, const char *host, int64_t slice, const char *mail, int64_t now, GError **error)
{
    return STORE_WRITE(
        store, error,
        query_run(store, error, NULL,
                  "INSERT INTO canary (host, slice, mail, sent_at, back_at, missing_since) "
                  "VALUES ($1, $2, $3, $4, 0, $4) ON CONFLICT (host, slice) DO UPDATE SET mail = $3, sent_at = $4, "
                  "missing_since = CASE WHEN canary.missing_since = 0 THEN $4 ELSE canary.missing_since END",
                  TEXT(host), INTEGER(slice), TEXT(mail), INTEGER(now)));
}

bool canary_back(Store *store, const char *host, int64_t slice, int64_t now, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "UPDATE canary SET back_at = $3, missing_since = 0 WHERE host = $1 AND slice = $2",
                                 TEXT(host), INTEGER(slice), INTEGER(now)));
}

GPtrArray *canary_all(Store *store, const char *host, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, "SELECT slice, mail, sent_at, back_at, missing_since FROM canary WHERE host = $1 ORDER BY slice",
        TEXT(host));
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)canary_free);
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW) {
        Canary *canary = g_new0(Canary, 1);
        row_read(query, 0, fields, canary);
        g_ptr_array_add(all, canary);
    }
    return step == STEP_DONE ? g_steal_pointer(&all) : NULL;
}

bool canary_forget(Store *store, const char *host, int64_t slices, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL, "DELETE FROM canary WHERE host = $1 AND slice >= $2", TEXT(host),
                                 INTEGER(slices)));
}
