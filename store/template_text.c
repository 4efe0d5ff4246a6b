/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/template_text.h"

#include "base/fail.h"
#include "store/store_internal.h"

#define COLUMNS "SELECT name, place, language, uri, username, password, text, fetched_at, fault FROM template "

void template_text_free(TemplateText *text)
{
    if (!text)
        return;
    g_free(text->name);
    g_free(text->place);
    g_free(text->language);
    g_free(text->uri);
    g_free(text->username);
    g_free(text->password);
    g_free(text->text);
    g_free(text->fault);
    g_free(text);
}

static GPtrArray *read_all(Query *query, GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)template_text_free);
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW) {
        TemplateText *text = g_new0(TemplateText, 1);
        text->name = g_strdup(query_text(query, 0));
        text->place = g_strdup(query_text(query, 1));
        text->language = g_strdup(query_text(query, 2));
        text->uri = g_strdup(query_text(query, 3));
        text->username = g_strdup(query_text(query, 4));
        text->password = g_strdup(query_text(query, 5));
        text->text = g_strdup(query_text(query, 6));
        text->fetched_at = query_integer(query, 7);
        text->fault = g_strdup(query_text(query, 8));
        g_ptr_array_add(all, text);
    }
    return step == STEP_DONE ? g_steal_pointer(&all) : NULL;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

bool template_text_put(Store *store, const TemplateText *text, GError **error)
{
    Write write;
    return write_begin(store, &write, error) &&
           write_end(store, &write,
                     query_run(store, error, NULL,
                               "INSERT INTO template (name, place, language, uri, username, password, text, "
                               "fetched_at, fault) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) "
                               "ON CONFLICT (place, name, language) DO UPDATE SET uri = excluded.uri, "
                               "username = excluded.username, password = excluded.password, text = excluded.text, "
                               "fetched_at = excluded.fetched_at, fault = excluded.fault",
                               TEXT(text->name), TEXT(text->place), TEXT(or_empty(text->language)),
                               TEXT(or_empty(text->uri)), TEXT(or_empty(text->username)),
                               TEXT(or_empty(text->password)), TEXT(text->text), INTEGER(text->fetched_at),
                               TEXT(or_empty(text->fault))),
                     error);
}

static bool remove_rows(Store *store, const char *place, const char *name, const char *language, GError **error)
{
    int64_t removed = 0;
    return query_run(store, error, &removed,
                     "DELETE FROM template WHERE place = $1 AND name = $2 AND ($3 IS NULL OR language = $3)",
                     TEXT(place), TEXT(name), TEXT(language)) &&
           (removed > 0 || fail(error, FAIL_MISSING, "nobody has set the template %s for %s", name,
                                *place ? place : "the site"));
}

bool template_text_remove(Store *store, const char *place, const char *name, const char *language, GError **error)
{
    Write write;
    return write_begin(store, &write, error) &&
           write_end(store, &write, remove_rows(store, place, name, language, error), error);
}

GPtrArray *template_text_all(Store *store, const char *place, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        COLUMNS "WHERE $1 IS NULL OR place = $1 ORDER BY place, name, language",
                                        TEXT(place));
    return read_all(query, error);
}

GPtrArray *template_text_stale(Store *store, int64_t before, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        COLUMNS "WHERE uri <> '' AND fetched_at < $1 ORDER BY place, name, language",
                                        INTEGER(before));
    return read_all(query, error);
}

bool template_text_find(Store *store, const char *name, const List *list, const char *language, char **text,
                        GError **error)
{
    *text = NULL;
    g_autoptr(Query) query =
        query_open(store, error,
                   "SELECT text FROM template WHERE name = $1 AND place IN ($2, $3, '') AND language IN ($4, '') "
                   "AND text IS NOT NULL ORDER BY CASE place WHEN $2 THEN 0 WHEN $3 THEN 1 ELSE 2 END, "
                   "language = '' LIMIT 1",
                   TEXT(name), TEXT(list->list_id), TEXT(list->mail_host), TEXT(or_empty(language)));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    if (step == STEP_ROW)
        *text = g_strdup(query_text(query, 0));
    return step != STEP_FAILED;
}
