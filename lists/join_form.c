/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/join_form.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/keys.h"
#include "lists/own_address.h"
#include "switchboard/meta.h"

#define LATEST_US (3 * CLOCK_SECOND) /* until an entry is worked; how long is left to chance */

/* Leave the entry. Its message is for people who look into the spool. */
static void leave_entry(Work *work, const List *list, const Joiner *joiner)
{
    static const char text[] = "Subject: a form of the pages\r\n\r\n";
    const Actor *actor = work_actor(work);
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list->list_id);
    meta_set_string(meta, KEY_TO, TO_JOIN);
    json_object_set_new(meta, KEY_FORM,
                        json_pack("{ss ss* ss* ss*}", "address", joiner->address, "name", joiner->name, "host",
                                  actor->host, "from", actor->from));
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_new_static(text, strlen(text)));
    work_entry(work, "command", meta, pieces, NULL);
    work_entry_due(work, work_now(work) + g_random_int_range(0, LATEST_US));
}

bool join_form_take(Work *work, const List *list, const Joiner *joiner, SubscriptionResult *result, GError **error)
{
    bool barred = false, valid = mailbox_valid(joiner->address);
    if (valid && !join_is_barred(work, list, joiner->address, &barred, error))
        return false;
    *result = !valid ? SUBSCRIPTION_BAD_ADDRESS : barred ? SUBSCRIPTION_OWN_ADDRESS : SUBSCRIPTION_ASKED_PERSON;
    if (*result == SUBSCRIPTION_ASKED_PERSON)
        leave_entry(work, list, joiner);
    return true;
}

bool join_form_is_one(const json_t *meta)
{
    return json_object_get(meta, KEY_FORM) != NULL;
}

Work *join_form_unit(Store *store, const WorkSite *site, const json_t *meta, GError **error)
{
    const json_t *form = json_object_get(meta, KEY_FORM);
    const Actor actor = {.role = ACTOR_ADDRESS,
                         .door = DOOR_PAGE,
                         .host = meta_string(form, "host", NULL),
                         .from = meta_string(form, "from", "-")};
    if (!meta_string(form, "address", NULL)) {
        fail(error, FAIL_NEVER, "a form of a page has no address in " KEY_FORM);
        return NULL;
    }
    return work_new(store, site, &actor);
}

bool join_form_work(Work *work, const List *list, const json_t *meta, GError **error)
{
    const json_t *form = json_object_get(meta, KEY_FORM);
    g_auto(Subscription) made = {0};
    const Joiner joiner = {.address = meta_string(form, "address", ""), .name = meta_string(form, "name", NULL)};
    return join_ask(work, list, &joiner, &made, error);
}
