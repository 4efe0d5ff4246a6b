/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/event.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/event_row.h"
#include "switchboard/meta.h"

static json_t *time_json(int64_t time)
{
    g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    g_autofree char *seconds = g_date_time_format(date, "%Y-%m-%dT%H:%M:%S");
    return json_sprintf("%s.%06dZ", seconds, (int)(time % CLOCK_SECOND));
}

/* Notes on what the right to read the event hangs. */
static void note_place(Work *work, const char *list_id, json_t *meta)
{
    g_auto(EventPlace) place = {0};
    g_autoptr(GError) fault = NULL;
    if (!event_place_find(work_store(work), list_id, &place, &fault))
        log_error("an event of the list %s is for the site alone, since it is not known where the list is: %s", list_id,
                  fault->message);
    if (!place.mail_host)
        return;
    meta_set_string(meta, KEY_EVENT_HOST, place.mail_host);
    meta_set_integer(meta, KEY_EVENT_LIST, place.list);
    meta_set_integer(meta, KEY_EVENT_DOMAIN, place.domain);
}

void event_tell(Work *work, const char *type, const char *list_id, json_t *data)
{
    if (!work_site(work)->tells) {
        json_decref(data);
        return;
    }
    g_autofree char *id = g_uuid_string_random();
    json_object_set_new(data, "list_id", json_string(list_id));
    g_autoptr(json_t) event = json_pack("{ss ss so so}", "id", id, "type", type, "timestamp",
                                        time_json(work_now(work)), "data", data);
    char *body = event ? json_dumps(event, JSON_COMPACT) : NULL;
    if (!body) {
        log_error("an event %s is not told: there is text in it that is not UTF-8", type);
        return;
    }
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list_id);
    meta_set_string(meta, KEY_EVENT, type);
    meta_set_string(meta, KEY_EVENT_ID, id);
    note_place(work, list_id, meta);
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_new_with_free_func(body, strlen(body), free, body));
    work_entry(work, EVENT_QUEUE, meta, pieces, NULL);
}
