/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/page_form.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "switchboard/meta.h"

#define LATEST (3 * CLOCK_SECOND) /* until an entry is worked; how long is left to chance */

void page_form_leave(Work *work, const PageForm *form)
{
    static const char text[] = "Subject: a form of the pages\r\n\r\n"; /* for people who look into the spool */
    const Actor *actor = work_actor(work);
    json_t *meta = json_object();
    if (form->list_id)
        meta_set_string(meta, META_LIST, form->list_id);
    meta_set_string(meta, KEY_TO, form->to);
    json_object_set_new(meta, KEY_FORM,
                        json_pack("{ss ss* ss* ss*}", "address", form->address, "name", form->name, "host", actor->host,
                                  "from", actor->from));
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_new_static(text, strlen(text)));
    work_entry(work, "command", meta, pieces, NULL);
    work_entry_due(work, work_now(work) + g_random_int_range(0, LATEST));
}

bool page_form_is(const json_t *meta, const char *to)
{
    return json_object_get(meta, KEY_FORM) && strcmp(meta_string(meta, KEY_TO, ""), to) == 0;
}

PageForm page_form_read(const json_t *meta)
{
    const json_t *form = json_object_get(meta, KEY_FORM);
    return (PageForm){.to = meta_string(meta, KEY_TO, ""),
                      .list_id = meta_string(meta, META_LIST, NULL),
                      .address = meta_string(form, "address", ""),
                      .name = meta_string(form, "name", NULL)};
}

Work *page_form_unit(Store *store, const WorkSite *site, const json_t *meta, GError **error)
{
    const json_t *form = json_object_get(meta, KEY_FORM);
    const Actor actor = {.role = ACTOR_ADDRESS,
                         .door = DOOR_PAGE,
                         .host = meta_string(form, "host", NULL),
                         .from = meta_string(form, "from", "-")};
    if (*page_form_read(meta).address)
        return work_new(store, site, &actor);
    fail(error, FAIL_NEVER, "a form of a page has no address in " KEY_FORM);
    return NULL;
}
