/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/hosts/canary.h"

#include <string.h>

#include "store/row.h"

/* Rows of mails that go there and back. */
#define OF_MAILS "family NOT LIKE '" CANARY_QUEUE "%' AND family NOT LIKE '" CANARY_DOOR "%'"

static const RowField fields[] = {
    ROW(Canary, family),  ROW(Canary, out),           ROW(Canary, in), ROW(Canary, mail), ROW(Canary, sent_at),
    ROW(Canary, back_at), ROW(Canary, missing_since),
};

void canary_free(Canary *canary)
{
    row_free(fields, canary);
}

bool canary_sent(Store *store, const char *host, const CanaryWay *way, const char *mail, int64_t now, GError **error)
{
    return STORE_WRITE_PEOPLE(
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
    return STORE_WRITE_PEOPLE(store, error,
                              query_run(store, error, NULL,
                                        "UPDATE canary_way SET back_at = $5, missing_since = 0 "
                                        "WHERE host = $1 AND family = $2 AND out_slice = $3 AND in_slice = $4",
                                        TEXT(host), TEXT(way->family), INTEGER(way->out), INTEGER(way->in),
                                        INTEGER(now)));
}

GPtrArray *canary_all(Store *store, const char *host, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT family, out_slice, in_slice, mail, sent_at, back_at, missing_since "
                                        "FROM canary_way WHERE host = $1 ORDER BY family, out_slice, in_slice",
                                        TEXT(host));
    return row_all(query, Canary, fields, canary_free, error);
}

bool canary_excuse(Store *store, const char *host, int64_t after, GError **error)
{
    return STORE_WRITE_PEOPLE(
        store, error,
        query_run(store, error, NULL,
                  "UPDATE canary_way SET missing_since = 0 WHERE host = $1 AND missing_since > $2 "
                  "AND " OF_MAILS,
                  TEXT(host), INTEGER(after)));
}

const char *canary_queue(const Canary *canary)
{
    return g_str_has_prefix(canary->family, CANARY_QUEUE) ? canary->family + strlen(CANARY_QUEUE) : NULL;
}

bool canary_forget_way(Store *store, const char *host, const CanaryWay *way, GError **error)
{
    return STORE_WRITE_PEOPLE(store, error,
                              query_run(store, error, NULL,
                                        "DELETE FROM canary_way WHERE host = $1 AND family = $2 AND out_slice = $3 "
                                        "AND in_slice = $4",
                                        TEXT(host), TEXT(way->family), INTEGER(way->out), INTEGER(way->in)));
}

bool canary_forget(Store *store, const char *host, int64_t outs, int64_t ins, GError **error)
{
    return STORE_WRITE_PEOPLE(
        store, error,
        query_run(store, error, NULL,
                  "DELETE FROM canary_way WHERE host = $1 AND (out_slice >= $2 OR in_slice >= $3) "
                  "AND ($2 = 0 OR (" OF_MAILS "))",
                  TEXT(host), INTEGER(outs), INTEGER(ins)));
}

bool canary_keep_families(Store *store, const char *host, const char *one, const char *other, GError **error)
{
    return STORE_WRITE_PEOPLE(store, error,
                              query_run(store, error, NULL,
                                        "DELETE FROM canary_way WHERE host = $1 AND family <> $2 AND family <> $3 "
                                        "AND " OF_MAILS,
                                        TEXT(host), TEXT(one), TEXT(other)));
}

bool canary_came(Store *store, const char *host, const char *family, int64_t now, int64_t usual, GError **error)
{
    g_autofree char *door = g_strconcat(CANARY_DOOR, family, NULL);
    const char *other = strcmp(family, "ipv6") == 0 ? CANARY_DOOR "ipv4" : CANARY_DOOR "ipv6";
    return STORE_WRITE_PEOPLE(
        store, error,
        query_run(store, error, NULL,
                  "DELETE FROM canary_way WHERE host = $1 AND family = $2 AND EXISTS "
                  "(SELECT 1 FROM canary_way WHERE host = $1 AND family = $3 AND missing_since <> 0)",
                  TEXT(host), TEXT(other), TEXT(door)) &&
            query_run(store, error, NULL,
                      "INSERT INTO canary_way (host, family, out_slice, in_slice, mail, sent_at, back_at, "
                      "missing_since) VALUES ($1, $2, 0, 0, '', $3, $3, 0) "
                      "ON CONFLICT (host, family, out_slice, in_slice) DO UPDATE SET sent_at = CASE "
                      "WHEN $3 - canary_way.back_at > $4 THEN $3 ELSE canary_way.sent_at END, "
                      "back_at = $3, missing_since = 0",
                      TEXT(host), TEXT(door), INTEGER(now), INTEGER(usual)) &&
            query_run(store, error, NULL,
                      "UPDATE canary_way SET missing_since = back_at WHERE host = $1 AND family = $2 "
                      "AND back_at - sent_at > $4 AND $3 - back_at > $4 AND EXISTS "
                      "(SELECT 1 FROM canary_way AS this WHERE this.host = $1 AND this.family = $5 "
                      "AND $3 - this.sent_at > $4)",
                      TEXT(host), TEXT(other), INTEGER(now), INTEGER(usual), TEXT(door)));
}

bool canary_forget_doors(Store *store, const char *host, GError **error)
{
    return STORE_WRITE_PEOPLE(store, error,
                              query_run(store, error, NULL,
                                        "DELETE FROM canary_way WHERE host = $1 AND family LIKE '" CANARY_DOOR "%'",
                                        TEXT(host)));
}

bool canary_is_mail(const Canary *canary)
{
    return !canary_queue(canary) && !g_str_has_prefix(canary->family, CANARY_DOOR);
}
