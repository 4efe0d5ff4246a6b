/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/canary.h"

#include <string.h>

#include "store/row.h"

static const RowField fields[] = {
    ROW(Canary, family),  ROW(Canary, out),           ROW(Canary, in), ROW(Canary, mail), ROW(Canary, sent_at),
    ROW(Canary, back_at), ROW(Canary, missing_since),
};

void canary_free(Canary *canary)
{
    if (canary)
        row_clear(fields, canary);
    g_free(canary);
}

bool canary_sent(Store *store, const char *host, const CanaryWay *way, const char *mail, int64_t now, GError **error)
{
    return STORE_WRITE(
        store, error,
        query_run(store, error, NULL,
                  "INSERT INTO canary_way (host, family, out_slice, in_slice, mail, sent_at, back_at, missing_since) "
                  "VALUES ($1, $2, $3, $4, $5, $6, 0, $6) "
                  "ON CONFLICT (host, family, out_slice, in_slice) DO UPDATE SET mail = $5, sent_at = $6, "
                  "missing_since = CASE WHEN canary_way.missing_since = 0 THEN $6 ELSE canary_way.missing_since END",
                  TEXT(host), TEXT(way->family), INTEGER(way->out), INTEGER(way->in), TEXT(mail), INTEGER(now)));
}

bool canary_back(Store *store, const char *host, const CanaryWay *way, int64_t now, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "UPDATE canary_way SET back_at = $5, missing_since = 0 "
                                 "WHERE host = $1 AND family = $2 AND out_slice = $3 AND in_slice = $4",
                                 TEXT(host), TEXT(way->family), INTEGER(way->out), INTEGER(way->in), INTEGER(now)));
}

GPtrArray *canary_all(Store *store, const char *host, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT family, out_slice, in_slice, mail, sent_at, back_at, missing_since "
                                        "FROM canary_way WHERE host = $1 ORDER BY family, out_slice, in_slice",
                                        TEXT(host));
    return row_all(query, Canary, fields, (GDestroyNotify)canary_free, error);
}

bool canary_excuse(Store *store, const char *host, int64_t after, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "UPDATE canary_way SET missing_since = 0 WHERE host = $1 AND missing_since > $2 "
                                 "AND family NOT LIKE '" CANARY_QUEUE "%'",
                                 TEXT(host), INTEGER(after)));
}

const char *canary_queue(const Canary *canary)
{
    return g_str_has_prefix(canary->family, CANARY_QUEUE) ? canary->family + strlen(CANARY_QUEUE) : NULL;
}

bool canary_forget_way(Store *store, const char *host, const CanaryWay *way, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "DELETE FROM canary_way WHERE host = $1 AND family = $2 AND out_slice = $3 "
                                 "AND in_slice = $4",
                                 TEXT(host), TEXT(way->family), INTEGER(way->out), INTEGER(way->in)));
}

bool canary_forget(Store *store, const char *host, int64_t outs, int64_t ins, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "DELETE FROM canary_way WHERE host = $1 AND (out_slice >= $2 OR in_slice >= $3) "
                                 "AND ($2 = 0 OR family NOT LIKE '" CANARY_QUEUE "%')",
                                 TEXT(host), INTEGER(outs), INTEGER(ins)));
}

bool canary_keep_families(Store *store, const char *host, const char *one, const char *other, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL,
                                 "DELETE FROM canary_way WHERE host = $1 AND family <> $2 AND family <> $3 "
                                 "AND family NOT LIKE '" CANARY_QUEUE "%'",
                                 TEXT(host), TEXT(one), TEXT(other)));
}
