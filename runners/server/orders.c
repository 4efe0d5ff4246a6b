/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/server/orders.h"

#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/control.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/site/queue_shape.h"
#include "lists/site/site_state.h"
#include "switchboard/fault.h"
#include "switchboard/operate.h"

#define ANSWER_SECONDS 6 /* the master waits 5 for others */
#define SHUNT "shunt"

/* ---- asking processes ---- */

/* That nobody listens there is a fault of ours, and no word about what is asked for. */
static json_t *ask(const Config *config, const char *socket, json_t *request, GError **error)
{
    g_autoptr(GError) fault = NULL;
    json_t *reply = site_state_exchange(config, socket, request, ANSWER_SECONDS, &fault);
    if (g_error_matches(fault, FAIL, FAIL_MISSING))
        fault->code = FAIL_LATER;
    if (fault)
        g_propagate_error(error, g_steal_pointer(&fault));
    return reply;
}

json_t *orders_master(const Config *config, const char *verb, GError **error)
{
    return ask(config, CONTROL_SOCKET, json_pack("{ss}", "verb", verb), error);
}

json_t *orders_look(const Config *config, GError **error)
{
    return ask(config, CONTROL_SOCKET, json_pack("{ss sb}", "verb", "status", "old", true), error);
}

json_t *orders_history(const Config *config, const char *range, GError **error)
{
    return ask(config, CONTROL_SOCKET, json_pack("{ss ss}", "verb", "history", "range", range), error);
}

json_t *orders_out(const Config *config, json_t *request, GError **error)
{
    size_t index;
    json_t *group, *destination;
    json_int_t instances = 0;
    g_autoptr(json_t) own = request, status = orders_look(config, error), all = json_array();
    if (!status)
        return NULL;
    json_array_foreach(json_object_get(status, "runners"), index, group)
        if (g_strcmp0(json_string_value(json_object_get(group, "runner")), "out") == 0)
            instances = json_integer_value(json_object_get(group, "instances"));
    for (json_int_t at = 0; at < instances; at++) {
        g_autofree char *socket = g_strdup_printf("out-%d.sock", (int)at);
        g_autoptr(json_t) reply = ask(config, socket, json_incref(own), error);
        if (!reply)
            return NULL;
        json_array_foreach(json_object_get(reply, "destinations"), index, destination) {
            json_object_set_new(destination, "instance", json_integer(at));
            json_array_append(all, destination);
        }
    }
    return g_steal_pointer(&all);
}

/* ---- queues ---- */

/* Of this thread, microseconds. */
static int64_t processor_time(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * CLOCK_SECOND + used.tv_nsec / 1000;
}

static json_t *shape_of(Spool *spool, bool out, GError **error)
{
    const QueueShapeSpec spec = {.by = out ? QUEUE_SHAPE_BY_DOMAIN : QUEUE_SHAPE_BY_LIST,
                                 .buckets = 10,
                                 .tick = 5,
                                 .most = ORDERS_SHAPE_READ,
                                 .top = ORDERS_SHAPE_ROWS};
    g_auto(GStrv) queues = queue_shape_queues(spool, out, error);
    return queues ? queue_shape_of(spool, queues, &spec, error) : NULL;
}

const json_t *orders_queues(Spool *spool, GError **error)
{
    static json_t *kept;
    static int64_t until;
    if (kept && clock_monotonic() < until)
        return kept;
    int64_t begun = processor_time();
    g_autoptr(json_t) out = shape_of(spool, true, error), others = out ? shape_of(spool, false, error) : NULL;
    g_clear_pointer(&kept, json_decref);
    if (others)
        kept = json_pack("{sO sO}", "out", out, "others", others);
    until = clock_monotonic() + ORDERS_SHAPE_REST * (processor_time() - begun);
    return kept;
}

/* ---- shunt ---- */

void shunted_free(Shunted *shunted)
{
    if (!shunted)
        return;
    g_free(shunted->entry);
    g_free(shunted->reason);
    g_free(shunted->from);
    g_free(shunted->list_id);
    g_free(shunted->trace);
    g_free(shunted);
}

static void note_ready(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    if (g_strcmp0(rest, ".msg") == 0 || g_strcmp0(rest, ".psv") == 0)
        g_ptr_array_add(data, g_strdup(file));
}

GPtrArray *orders_shunt(Spool *spool, Queue **queue, GError **error)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    *queue = spool_queue(spool, SHUNT, error);
    if (!*queue || !queue_visit(*queue, note_ready, files, error))
        return NULL;
    g_ptr_array_sort(files, bytes_compare_texts);
    return g_steal_pointer(&files);
}

Shunted *orders_shunted(Queue *queue, const char *file)
{
    g_autoptr(GError) why = NULL;
    g_autoptr(Entry) entry = entry_open_read(queue, file, &why);
    Shunted *shunted = g_new0(Shunted, 1);
    const json_t *fault = entry ? json_object_get(entry_meta(entry), META_FAULT) : NULL;
    shunted->entry = g_strndup(file, NAME_LENGTH);
    shunted->damaged = !entry;
    shunted->reason = g_strdup(entry ? meta_string(fault, "reason", "") : "It is damaged");
    if (!entry)
        return shunted;
    shunted->from = g_strdup(meta_string(fault, "queue", ""));
    shunted->set_aside = meta_integer(fault, "time", 0);
    shunted->times = meta_integer(fault, "times", 1);
    shunted->list_id = g_strdup(entry_list(entry));
    shunted->trace = g_strdup(entry_trace(entry));
    shunted->size = (int64_t)entry_message_length(entry);
    return shunted;
}

static void on_moved(void *data, void *token, const GError *error)
{
    if (!error)
        ++*(int64_t *)data;
}

/* Puts one entry back to where it was. */
static bool retry_one(Operate *operate, Queue *queue, const char *file, const EntryName *name, GError **error)
{
    g_autoptr(Entry) entry = operate_claim(operate, queue, name, g_str_has_suffix(file, ".psv"), error);
    Draft *draft = entry ? operate_draft_retry(entry, NULL, error) : NULL;
    if (entry && !draft) {
        operate_put_back(operate, g_steal_pointer(&entry), NULL);
        return false;
    }
    if (entry && !operate_move(operate, g_steal_pointer(&entry), draft, NULL, error))
        log_fatal(CHILD_EXIT_LATER, "an entry of shunt was to be put back: %s", (*error)->message);
    return draft != NULL;
}

bool orders_shunt_do(Spool *spool, ShuntOrder order, char *const *entries, int64_t *done, int64_t *left, GError **error)
{
    Queue *queue;
    *done = *left = 0;
    g_autoptr(GPtrArray) files = orders_shunt(spool, &queue, error);
    g_autoptr(Operate) operate = files ? operate_open(spool, false, on_moved, done, error) : NULL;
    for (guint at = 0; operate && at < files->len; at++) {
        EntryName name;
        g_autoptr(GError) refused = NULL;
        const char *file = files->pdata[at];
        g_autofree char *named = g_strndup(file, NAME_LENGTH);
        if ((entries && !g_strv_contains((const char *const *)entries, named)) || !name_parse(file, &name, NULL))
            continue;
        if (order == SHUNT_RETRY) { /* on_moved() counts those that are done */
            *left += !retry_one(operate, queue, file, &name, &refused);
            continue;
        }
        bool gone = g_str_has_suffix(file, ".psv") ? operate_delete_preserved(operate, queue, &name, &refused)
                                                   : operate_delete(operate, queue, &name, &refused);
        *(gone ? done : left) += 1;
    }
    g_autoptr(GError) fault = NULL;
    if (operate && !operate_end(operate, &fault))
        log_fatal(CHILD_EXIT_LATER, "entries of shunt were to be put back or deleted: %s", fault->message);
    return operate != NULL;
}
