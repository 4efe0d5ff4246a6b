/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/news.h"

#include "store/row.h"
#include "store/store_internal.h"

static const RowField place_row[] = {ROW(NewsPlace, list_id), ROW(NewsPlace, newsgroup), ROW(NewsPlace, watermark),
                                     ROW(NewsPlace, looked_at), ROW(NewsPlace, fault)};

static void place_free(NewsPlace *place)
{
    row_free(place_row, place);
}

GPtrArray *news_places(Store *store, GError **error)
{
    g_autoptr(Query) query = query_start(
        store, error,
        "SELECT l.list_id, s.value, COALESCE(n.watermark, -1), COALESCE(n.looked_at, 0), COALESCE(n.fault, '') "
        "FROM list_setting s JOIN list l ON l.key = s.list "
        "LEFT JOIN news n ON n.list = s.list AND n.newsgroup = s.value "
        "WHERE s.name = 'linked_newsgroup' ORDER BY l.list_id",
        NULL, 0);
    return row_all(query, NewsPlace, place_row, place_free, error);
}

bool news_watermark(Store *store, const char *list_id, const char *newsgroup, int64_t *watermark, GError **error)
{
    int64_t list;
    *watermark = NEWS_NOWHERE;
    return list_key(store, list_id, &list, error) &&
           query_number(store, error, watermark, "SELECT watermark FROM news WHERE list = $1 AND newsgroup = $2",
                        INTEGER(list), TEXT(newsgroup));
}

bool news_set_watermark(Store *store, const char *list_id, const char *newsgroup, int64_t watermark, GError **error)
{
    int64_t list;
    return STORE_WRITE_LIST(
        store, error,
        list_key(store, list_id, &list, error) &&
            query_run(store, error, NULL,
                      "INSERT INTO news (list, newsgroup, watermark, looked_at, fault) VALUES ($1, $2, $3, 0, '') "
                      "ON CONFLICT (list) DO UPDATE SET newsgroup = $2, watermark = $3",
                      INTEGER(list), TEXT(newsgroup), INTEGER(watermark)));
}

bool news_looked(Store *store, const char *list_id, const char *newsgroup, int64_t time, const char *fault,
                 GError **error)
{
    int64_t list;
    return STORE_WRITE_LIST(
        store, error,
        list_key(store, list_id, &list, error) &&
            query_run(store, error, NULL,
                      "INSERT INTO news (list, newsgroup, watermark, looked_at, fault) VALUES ($1, $2, -1, $3, $4) "
                      "ON CONFLICT (list) DO UPDATE SET looked_at = $3, fault = $4, watermark = CASE WHEN "
                      "news.newsgroup = $2 THEN news.watermark ELSE -1 END, newsgroup = $2",
                      INTEGER(list), TEXT(newsgroup), INTEGER(time), TEXT(fault ? fault : "")));
}
