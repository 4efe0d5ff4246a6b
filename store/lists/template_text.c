/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/template_text.h"

#include <string.h>

#include "base/fail.h"
#include "store/lists/list.h"
#include "store/row.h"
#include "store/store_internal.h"

#define COLUMNS "SELECT name, place, language, uri, username, password, text, fetched_at, fault FROM template "

static const RowField text_row[] = {ROW(TemplateText, name), ROW(TemplateText, place),      ROW(TemplateText, language),
                                    ROW(TemplateText, uri),  ROW(TemplateText, username),   ROW(TemplateText, password),
                                    ROW(TemplateText, text), ROW(TemplateText, fetched_at), ROW(TemplateText, fault)};

void template_text_free(TemplateText *text)
{
    row_free(text_row, text);
}

static GPtrArray *read_all(Query *query, GError **error)
{
    return row_all(query, TemplateText, text_row, template_text_free, error);
}

char *template_text_place(const char *mail_host)
{
    return g_strconcat("@", mail_host, NULL);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

bool template_text_put(Store *store, const TemplateText *text, GError **error)
{
    return STORE_CHANGE(store, error,
                        query_run(store, error, NULL,
                                  "INSERT INTO template (name, place, language, uri, username, password, text, "
                                  "fetched_at, fault) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) "
                                  "ON CONFLICT (place, name, language) DO UPDATE SET uri = excluded.uri, "
                                  "username = excluded.username, password = excluded.password, text = excluded.text, "
                                  "fetched_at = excluded.fetched_at, fault = excluded.fault",
                                  TEXT(text->name), TEXT(text->place), TEXT(or_empty(text->language)),
                                  TEXT(or_empty(text->uri)), TEXT(or_empty(text->username)),
                                  TEXT(or_empty(text->password)), TEXT(text->text), INTEGER(text->fetched_at),
                                  TEXT(or_empty(text->fault))));
}

bool template_text_remove(Store *store, const char *place, const char *name, const char *language, GError **error)
{
    return STORE_CHANGE(
        store, error,
        query_change_one(store, error,
                         fail(error, FAIL_MISSING, "nobody has set the template %s for %s", name,
                              *place ? place + (*place == '@') : "the site"),
                         "DELETE FROM template WHERE place = $1 AND name = $2 AND ($3 IS NULL OR language = $3)",
                         TEXT(place), TEXT(name), TEXT(language)));
}

GPtrArray *template_text_all(Store *store, const char *place, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        COLUMNS "WHERE $1 IS NULL OR place = $1 ORDER BY place, name, language",
                                        TEXT(place));
    return read_all(query, error);
}

/* One that was fetched a day from now, or later, was so while the clock was ahead. */
GPtrArray *template_text_stale(Store *store, int64_t before, int64_t retry, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        COLUMNS "WHERE uri <> '' AND uri NOT LIKE '" TEMPLATE_INSTALLED "%' AND "
                                        "(fetched_at < $1 OR (fault <> '' AND fetched_at < $2) OR "
                                        "fetched_at - 86400000000 > $2) "
                                        "ORDER BY fetched_at, place, name, language",
                                        INTEGER(before), INTEGER(retry));
    return read_all(query, error);
}

bool template_text_count_faults(Store *store, int64_t *count, GError **error)
{
    return query_number_all(store, error, count, "SELECT count(*) FROM template WHERE fault <> ''", NULL, 0);
}

/* Write the text only if it differs: an equal text must not make all processes read their lists again. */
bool template_text_fetched(Store *store, const TemplateText *text, GError **error)
{
    int64_t changed = 0;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    if (text->text && !query_run(store, error, &changed,
                                 "UPDATE template SET text = $5 WHERE place = $1 AND name = $2 AND language = $3 AND "
                                 "uri = $4 AND (text IS NULL OR text <> $5)",
                                 TEXT(text->place), TEXT(text->name), TEXT(text->language), TEXT(text->uri),
                                 TEXT(text->text)))
        return false;
    if (changed > 0)
        store_changed(store);
    return query_run(store, error, NULL,
                     "UPDATE template SET fetched_at = $5, fault = $6 "
                     "WHERE place = $1 AND name = $2 AND language = $3 AND uri = $4",
                     TEXT(text->place), TEXT(text->name), TEXT(text->language), TEXT(text->uri),
                     INTEGER(text->fetched_at), TEXT(or_empty(text->fault))) &&
           write_end(&write, error);
}

bool template_text_find(Store *store, const char *name, const List *list, const char *language, TemplateText **found,
                        GError **error)
{
    g_autofree char *wanted = g_strdelimit(g_strdup(or_empty(language)), "-", '_');
    g_autofree char *plain = g_strndup(wanted, strcspn(wanted, "_"));
    g_autofree char *domain = list ? template_text_place(list->mail_host) : NULL;
    *found = NULL;
    g_autoptr(Query) query =
        query_open(store, error,
                   COLUMNS "WHERE name = $1 AND place IN ($2, $3, '') AND language IN ($4, $5, '') "
                   "AND (text IS NOT NULL OR uri LIKE '" TEMPLATE_INSTALLED "%') "
                   "ORDER BY CASE place WHEN $2 THEN 0 WHEN $3 THEN 1 ELSE 2 END, "
                   "CASE language WHEN $4 THEN 0 WHEN '' THEN 2 ELSE 1 END LIMIT 1",
                   TEXT(name), TEXT(list ? list->list_id : NULL), TEXT(domain), TEXT(wanted), TEXT(plain));
    Step step;
    *found = row_next(query, TemplateText, text_row, &step, error);
    return step != STEP_FAILED;
}
