/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The defragment runner: keeps the parts of messages until they are complete,
 * and puts them together. README.md has the states and the decisions; part.c takes them.
 */
#include "runners/defragment/defragment.h"

#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"

#define FORGET_INTERVAL (3600 * CLOCK_SECOND)
#define DAY (86400 * CLOCK_SECOND)

static void join_free(gpointer data)
{
    Join *made = data;
    g_free(made->key);
    g_free(made);
}

static void stop(Runner *runner)
{
    Defragment *own = runner_data(runner);
    if (!own)
        return;
    list_cache_free(own->lists);
    seat_leave(&own->seat);
    g_ptr_array_unref(own->joins);
    g_ptr_array_unref(own->given_up);
    g_free(own);
    runner_set_data(runner, NULL);
}

static bool start(Runner *runner, GError **error)
{
    const Config *config = runner_config(runner);
    Defragment *own = g_new0(Defragment, 1);
    own->runner = runner;
    own->joins = g_ptr_array_new_with_free_func(join_free);
    own->given_up = g_ptr_array_new_with_free_func((GDestroyNotify)fragment_set_free);
    own->host = config_string(config, "site", "hostname");
    own->notices = config_integer(config, "defragment", "notices");
    own->max_parts = config_integer(config, "defragment", "max_parts");
    own->max_size = (int64_t)config_size(config, "defragment", "max_size");
    own->sets_per_sender = config_integer(config, "defragment", "sets_per_sender");
    own->sets_per_list = config_integer(config, "defragment", "sets_per_list");
    own->sets_per_host = config_integer(config, "defragment", "sets_per_host");
    own->max_waiting = (int64_t)config_size(config, "defragment", "max_waiting");
    runner_set_data(runner, own);
    if (!runner_seat_open(runner, &own->seat, false, error))
        return false;
    own->store = own->seat.store;
    own->lists = list_cache_new(own->store);
    return settle_start(own, error);
}

static bool begin(Runner *runner, GError **error)
{
    Defragment *own = runner_data(runner);
    list_cache_refresh(own->lists);
    own->counted = own->looked = false;
    if (!store_begin_people(own->store, NULL, error))
        return false;
    if (settle_joins(own, error))
        return true;
    store_rollback(own->store);
    return false;
}

/* An entry without mail: an operator decided about a set (D11). */
static bool wake(Defragment *own, Entry *entry, const char *key, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(FragmentSet) set = fragment_find(own->store, key, &fault);
    if (!set && g_error_matches(fault, FAIL, FAIL_MISSING))
        return settle_unknown(own, error); /* its list was removed, or it was forgotten */
    if (!set)
        return fail_with(error, &fault);
    log_info("%s list=%s queue=" DEFRAGMENT_QUEUE " set=%.12s result=woken state=%s", entry_trace(entry), set->list_id,
             key, fragment_state_text(set->state));
    return settle_wake(own, set, error);
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    Defragment *own = runner_data(runner);
    const char *key = meta_string(entry_meta(entry), KEY_WAKE, NULL);
    if (key)
        return wake(own, entry, key, error);
    if (!store_savepoint(own->store, error))
        return false;
    bool done = part_handle(own, entry, outcome, error);
    store_savepoint_end(own->store, done);
    if (!done)
        own->counted = false;
    return done;
}

static bool end(Runner *runner, GError **error)
{
    Defragment *own = runner_data(runner);
    if (store_commit(own->store, error)) {
        settle_given_up(own);
        return true;
    }
    g_ptr_array_set_size(own->given_up, 0);
    g_ptr_array_set_size(own->joins, 0); /* they did not happen; what was to be settled is found at the next start */
    return false;
}

static void committed(Runner *runner)
{
    settle_batch(runner_data(runner));
}

static int64_t idle(Runner *runner)
{
    Defragment *own = runner_data(runner);
    int64_t now = clock_monotonic();
    g_autoptr(GError) error = NULL;
    bool settled = own->joins->len == 0;
    if (!settled && store_begin_people(own->store, NULL, &error)) {
        if (settle_joins(own, &error))
            settled = store_commit(own->store, &error);
        else
            store_rollback(own->store);
    }
    if (!settled)
        log_warn("the index of parts: %s", error->message);
    if (now < own->forget_at)
        return own->forget_at - now;
    own->looked = own->forget_at == 0; /* at the start already */
    g_clear_error(&error);
    if (!settle_unknown(own, &error))
        log_warn("parts that wait for a list that is gone: %s", error->message);
    if (runner_slice(runner).index == 0) {
        g_clear_error(&error);
        if (!fragment_forget(own->store, clock_now() - own->notices * DAY / 2, &error))
            log_warn("old sets stay in the index of parts: %s", error->message);
    }
    own->forget_at = now + FORGET_INTERVAL;
    return FORGET_INTERVAL;
}

const RunnerSpec defragment_spec = {
    .name = "defragment",
    .queue = DEFRAGMENT_QUEUE,
    .start = start,
    .begin_batch = begin,
    .handle = handle,
    .end_batch = end,
    .committed = committed,
    .idle = idle,
    .stop = stop,
};
