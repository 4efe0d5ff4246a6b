/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/event_row.h"

#include "store/row.h"
#include "store/store_internal.h"

void event_place_clear(EventPlace *place)
{
    g_clear_pointer(&place->mail_host, g_free);
}

static const RowField event_fields[] = {
    ROW(EventRow, number),          ROW(EventRow, id),         ROW(EventRow, type),
    ROW(EventRow, list_id),         ROW(EventRow, made_at),    ROW(EventRow, body),
    ROW(EventRow, place.mail_host), ROW(EventRow, place.list), ROW(EventRow, place.domain)};

static void event_row_free(EventRow *event)
{
    row_free(event_fields, event);
}

bool event_row_add(Store *store, EventRow *event, GError **error)
{
    bool there;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !query_exists(store, error, &there, "SELECT 1 FROM event WHERE id = $1", TEXT(event->id)))
        return false;
    if (!there && (!store_next_number(store, "event", &event->number, error) ||
                   !query_run(store, error, NULL,
                              "INSERT INTO event (number, id, type, list_id, made_at, body, mail_host, list_key, "
                              "domain_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                              INTEGER(event->number), TEXT(event->id), TEXT(event->type), TEXT(event->list_id),
                              INTEGER(event->made_at), TEXT(event->body),
                              TEXT(event->place.mail_host ? event->place.mail_host : ""), INTEGER(event->place.list),
                              INTEGER(event->place.domain))))
        return false;
    return write_end(&write, error);
}

GPtrArray *event_row_after(Store *store, int64_t number, int64_t limit, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT number, id, type, list_id, made_at, body, mail_host, list_key, "
                                        "domain_key FROM event WHERE number > $1 ORDER BY number LIMIT $2",
                                        INTEGER(number), INTEGER(limit));
    return row_all(query, EventRow, event_fields, event_row_free, error);
}

bool event_place_find(Store *store, const char *list_id, EventPlace *place, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT list.mail_host, list.key, domain.key FROM list JOIN domain ON "
                                        "domain.mail_host = list.mail_host WHERE list.list_id = $1",
                                        TEXT(list_id));
    Step step = query_step(query, error);
    *place = (EventPlace){0};
    if (step == STEP_ROW)
        *place = (EventPlace){g_strdup(query_text(query, 0)), query_integer(query, 1), query_integer(query, 2)};
    return step != STEP_FAILED;
}

bool event_row_stands(Store *store, const EventRow *event, bool *list, bool *domain, GError **error)
{
    const EventPlace *place = &event->place;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT (SELECT count(*) FROM list WHERE list_id = $1 AND key = $2), "
                                        "(SELECT count(*) FROM domain WHERE mail_host = $3 AND key = $4)",
                                        TEXT(event->list_id), INTEGER(place->list),
                                        TEXT(place->mail_host ? place->mail_host : ""), INTEGER(place->domain));
    if (query_step(query, error) != STEP_ROW)
        return false;
    *list = query_integer(query, 0) > 0;
    *domain = query_integer(query, 1) > 0;
    return true;
}

bool event_row_last(Store *store, int64_t *number, GError **error)
{
    *number = 0;
    return query_number(store, error, number, "SELECT value FROM counter WHERE name = $1", TEXT("event"));
}

bool event_row_expire(Store *store, int64_t before, GError **error)
{
    return STORE_EXPIRE(store, "event", "made_at", before, error);
}
