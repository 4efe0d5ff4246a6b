/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/hosts/canary.h"

#include "store/store_internal.h"

void canary_clear(Canary *canary)
{
    g_clear_pointer(&canary->mail, g_free);
}

bool canary_read(Store *store, const char *host, Canary *canary, GError **error)
{
    *canary = (Canary){0};
    g_autoptr(Query) query = query_open(
        store, error, "SELECT mail, sent_at, back_at, missing_since FROM canary WHERE host = $1", TEXT(host));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *canary = (Canary){g_strdup(query_text(query, 0)), query_integer(query, 1), query_integer(query, 2),
                           query_integer(query, 3)};
    return step != STEP_FAILED;
}

bool canary_sent(Store *store, const char *host, const char *mail, int64_t now, GError **error)
{
    return STORE_WRITE_PEOPLE(
        store, error,
        query_run(store, error, NULL,
                  "INSERT INTO canary (host, mail, sent_at, back_at, missing_since) VALUES ($1, $2, $3, 0, $3) "
                  "ON CONFLICT (host) DO UPDATE SET mail = $2, sent_at = $3, "
                  "missing_since = CASE WHEN canary.missing_since = 0 THEN $3 ELSE canary.missing_since END",
                  TEXT(host), TEXT(mail), INTEGER(now)));
}

bool canary_back(Store *store, const char *host, int64_t now, GError **error)
{
    return STORE_WRITE_PEOPLE(store, error,
                              query_run(store, error, NULL,
                                        "UPDATE canary SET back_at = $2, missing_since = 0 WHERE host = $1",
                                        TEXT(host), INTEGER(now)));
}

bool canary_forget(Store *store, const char *host, GError **error)
{
    return STORE_WRITE_PEOPLE(
        store, error, query_run(store, error, NULL, "DELETE FROM canary WHERE host = $1", TEXT(host)));
}
