/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/list_runner.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "runners/keys.h"
#include "store/secret.h"

bool list_runner_start(Runner *runner, GError **error)
{
    const Config *config = runner_config(runner);
    const char *path = config_string(config, "store", "path");
    Store *store = store_open(config_string(config, "store", "driver"), path, false, error);
    if (!store)
        return false;
    int log = -1;
    if (!store_leave_sync(store, &log, error)) {
        store_free(store);
        return false;
    }
    runner_sync_along(runner, log);
    ListRunner *own = g_new0(ListRunner, 1);
    own->store = store;
    own->lists = list_cache_new(store);
    work_site_init(&own->site, config);
    own->no_requests = !queue_is_worked(config, "command");
    runner_set_data(runner, own);
    return true;
}

void list_runner_stop(Runner *runner)
{
    ListRunner *own = runner_data(runner);
    if (!own)
        return;
    list_cache_free(own->lists);
    verp_keys_free(own->keys);
    store_free(own->store);
    g_free(own);
    runner_set_data(runner, NULL);
}

bool list_runner_refresh(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    g_autoptr(GError) gone = NULL;
    if (!store_present(own->store, &gone)) /* the one that is there is opened at the next start */
        log_fatal(CHILD_EXIT_LATER, "%s", gone->message);
    list_cache_refresh(own->lists);
    if (own->keys && clock_monotonic() >= own->keys_until)
        g_clear_pointer(&own->keys, verp_keys_free);
    if (own->kept)
        g_ptr_array_set_size(own->kept, 0);
    own->taken = 0;
    return true;
}

bool list_runner_begin(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    return list_runner_refresh(runner, error) && store_begin(own->store, error);
}

bool list_runner_end(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    return store_commit(own->store, error);
}

#define KEYS_LIFETIME (60 * CLOCK_SECOND)

VerpKeys *list_runner_keys(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    if (own->keys)
        return own->keys;
    g_autoptr(GPtrArray) secrets = secret_all(own->store, error);
    if (!secrets)
        return NULL;
    own->keys = verp_keys_new(secrets);
    own->keys_until = clock_monotonic() + KEYS_LIFETIME;
    return own->keys;
}

char *list_runner_effect(const Entry *entry)
{
    return name_effect(queue_name(entry_queue(entry)), entry_name(entry)->hash);
}

bool list_runner_find_effect(Runner *runner, Entry *entry, bool *before, int64_t *number, GError **error)
{
    ListRunner *own = runner_data(runner);
    g_autofree char *name = list_runner_effect(entry);
    return store_find_effect(own->store, name, before, number, error);
}

bool list_runner_record_effect(Runner *runner, Entry *entry, int64_t number, GError **error)
{
    ListRunner *own = runner_data(runner);
    g_autofree char *name = list_runner_effect(entry);
    return store_record_effect(own->store, name, number, error);
}

bool list_runner_record_outbox(Runner *runner, Entry *entry, GError **error)
{
    ListRunner *own = runner_data(runner);
    bool before;
    int64_t number;
    if (!meta_bool(entry_meta(entry), KEY_OUTBOX, false))
        return true;
    if (!store_begin(own->store, error))
        return false;
    if (list_runner_find_effect(runner, entry, &before, &number, error) &&
        (before || list_runner_record_effect(runner, entry, 0, error)))
        return store_commit(own->store, error);
    store_rollback(own->store);
    return false;
}

static Draft *draft_without_message(const char *queue, Entry *entry)
{
    json_t *meta = json_deep_copy(entry_meta(entry));
    json_object_del(meta, META_ORDINAL);
    json_object_del(meta, META_SHARD);
    json_object_del(meta, META_FAULT);
    json_object_del(meta, KEY_OUTBOX);
    return draft_new(queue, meta);
}

Draft *list_runner_draft_pieces(const char *queue, Entry *entry, const GPtrArray *pieces)
{
    Draft *draft = draft_without_message(queue, entry);
    for (guint at = 0; at < pieces->len; at++)
        draft_add_message(draft, pieces->pdata[at]);
    return draft;
}

Draft *list_runner_draft(const char *queue, Entry *entry, const Message *message)
{
    Draft *draft = draft_without_message(queue, entry);
    g_autoptr(GBytes) head = message_head(message), body = message_body(message);
    draft_add_message(draft, head);
    draft_add_message(draft, body);
    return draft;
}

Work *list_runner_work(ListRunner *own, Entry *entry)
{
    Actor actor = {.role = ACTOR_ADDRESS, .door = DOOR_MAIL, .from = entry_trace(entry),
                   .address = meta_string(entry_meta(entry), KEY_SENDER, "")};
    return work_new(own->store, &own->site, &actor);
}

static void take(void *data, Draft *draft)
{
    outcome_add(data, draft);
}

void list_runner_work_into(Work *work, Outcome *outcome)
{
    work_into(work, take, outcome);
}

void list_runner_log(Entry *entry, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    log_info("%s list=%s queue=%s %s", entry_trace(entry), entry_list(entry), queue_name(entry_queue(entry)), text);
}
