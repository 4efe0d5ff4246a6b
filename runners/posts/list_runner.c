/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/list_runner.h"

#include <stdarg.h>
#include <string.h>

#include "base/fail.h"
#include "base/ip.h"
#include "base/log.h"
#include "lists/keys.h"
#include "mail/header.h"
#include "store/outbox.h"

bool list_runner_start(Runner *runner, GError **error)
{
    const Config *config = runner_config(runner);
    ListRunner *own = g_new0(ListRunner, 1);
    runner_set_data(runner, own);
    if (!runner_seat_open(runner, &own->seat, false, error))
        return false;
    own->store = own->seat.store;
    own->lists = list_cache_new(own->store);
    work_site_init(&own->site, config);
    own->no_requests = !queue_is_worked(config, "command");
    return runner_seat_settle(runner, &own->seat, error);
}

bool list_runner_refresh(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    list_cache_refresh(own->lists);
    if (own->kept)
        g_ptr_array_set_size(own->kept, 0);
    own->taken = 0;
    return true;
}

bool list_runner_end(ListRunner *own, bool done, GError **error)
{
    if (done)
        return store_commit(own->store, error);
    store_rollback(own->store);
    return false;
}

/* ---- letters that are kept in rows ---- */

/* An entry of the batch that has rows. */
typedef struct Noted {
    char *key;
    const Outcome *outcome; /* borrowed until the batch is settled */
} Noted;

struct KeptRows {
    KeptKey key;
    GArray *batch;   /* of Noted */
    GPtrArray *done; /* of char *: keys of rows that are needed no more */
};

static void noted_clear(void *data)
{
    g_free(((Noted *)data)->key);
}

bool kept_rows_start(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    KeptRows *rows = own->rows = g_new0(KeptRows, 1);
    g_autoptr(GError) stay = NULL;
    rows->done = g_ptr_array_new_with_free_func(g_free);
    rows->batch = g_array_new(FALSE, FALSE, sizeof(Noted));
    g_array_set_clear_func(rows->batch, noted_clear);
    own->site.kept_key = &rows->key;
    if (!kept_key_read(runner_spool(runner), &rows->key, error))
        return false;
    if (!kept_forget_gone(own->store, runner_spool(runner), INT64_MAX, &stay))
        log_warn("rows of mail that was sent stay in the outbox: %s", stay->message);
    return true;
}

void kept_rows_note(ListRunner *own, const char *key, const Outcome *outcome)
{
    Noted noted = {g_strdup(key), outcome};
    g_array_append_val(own->rows->batch, noted);
}

static bool drop(ListRunner *own, GError **error)
{
    GPtrArray *done = own->rows->done;
    if (done->len == 0)
        return true;
    if (!store_begin_people(own->store, NULL, error))
        return false;
    bool removed = true;
    for (guint at = 0; removed && at < done->len; at++)
        removed = outbox_remove_of(own->store, done->pdata[at], error);
    if (!list_runner_end(own, removed, error))
        return false;
    g_ptr_array_set_size(done, 0);
    return true;
}

bool kept_rows_begin(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    g_array_set_size(own->rows->batch, 0);
    return list_runner_refresh(runner, error) && drop(own, error);
}

/* Called after a batch that failed, too. An entry whose letters could not be written comes again and needs its rows. */
void kept_rows_committed(Runner *runner)
{
    KeptRows *rows = ((ListRunner *)runner_data(runner))->rows;
    for (guint at = 0; at < rows->batch->len; at++) {
        Noted *noted = &g_array_index(rows->batch, Noted, at);
        if (!noted->outcome->error)
            g_ptr_array_add(rows->done, g_steal_pointer(&noted->key));
    }
    g_array_set_size(rows->batch, 0);
}

void kept_rows_idle(Runner *runner)
{
    g_autoptr(GError) stay = NULL;
    if (!drop(runner_data(runner), &stay))
        log_warn("rows of mail that was sent stay in the outbox: %s", stay->message);
}

void list_runner_stop(Runner *runner)
{
    ListRunner *own = runner_data(runner);
    if (!own)
        return;
    if (own->rows) { /* what cannot be dropped now is dropped when the next one starts */
        drop(own, NULL);
        g_ptr_array_unref(own->rows->done);
        g_array_unref(own->rows->batch);
        g_free(own->rows);
    }
    list_cache_free(own->lists);
    seat_leave(&own->seat);
    g_free(own);
    runner_set_data(runner, NULL);
}

/* ---- from an entry to new entries ---- */

VerpKeys *list_runner_keys(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    return seat_keys(&own->seat, error) ? own->seat.keys : NULL;
}

const LoopKeys *list_runner_loop_keys(ListRunner *own, GError **error)
{
    return seat_keys(&own->seat, error) ? own->seat.loop_keys : NULL;
}

bool list_runner_loop_mark(ListRunner *own, Entry *entry, const Message *message, LoopMark *mark, GError **error)
{
    const LoopKeys *keys = list_runner_loop_keys(own, error);
    if (!keys)
        return false;
    loop_mark_read(keys, message, mark);
    if (mark->strange > 0)
        list_runner_log(entry, "message-id=%s: a field " LOOP_MARK_FIELD " in it is not of this site, or was changed; "
                        "it counts for nothing", meta_string(entry_meta(entry), KEY_MESSAGE_ID, "-"));
    return true;
}

const char *list_runner_asked(Entry *entry)
{
    return meta_string(entry_meta(entry), KEY_TO, TO_POSTING);
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

static Draft *draft_without_message(const char *queue, Entry *entry)
{
    json_t *meta = json_deep_copy(entry_meta(entry));
    json_object_del(meta, META_ORDINAL);
    json_object_del(meta, META_SHARD);
    json_object_del(meta, META_FAULT);
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
    g_autoptr(GBytes) cause = entry_message(entry);
    Work *work = work_new(own->store, &own->site, &actor);
    work_set_cause(work, cause);
    return work;
}

char *list_runner_host(const Message *message)
{
    g_autofree char *received = message_value(message, "Received");
    g_autofree char *host = received ? received_client(received) : NULL;
    return host && ip_public_text(host) ? g_steal_pointer(&host) : NULL;
}

void list_runner_set_host(Work *work, const Message *message)
{
    g_autofree char *host = list_runner_host(message);
    work_set_host(work, host);
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
