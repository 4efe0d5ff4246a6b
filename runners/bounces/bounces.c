/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The bounces runner: what came back, and what out was refused, costs
 * members points; who has too many is probed, disabled, warned, removed. No
 * entry is ever answered.
 */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "runners/bounces/case.h"
#include "runners/bounces/returned.h"
#include "runners/posts/kept_rows.h"
#include "store/lists/list_setting.h"
#include "store/secret.h"

#define EXPIRE_INTERVAL (3600 * CLOCK_SECOND)

static bool read_keys(Bounces *bounces, GError **error)
{
    int64_t version = store_version(bounces->shared->store);
    if (bounces->keys && bounces->keys_version == version)
        return true;
    g_autoptr(GPtrArray) secrets = secret_all(bounces->shared->store, error);
    if (!secrets)
        return false;
    verp_keys_free(bounces->keys);
    bounces->keys = verp_keys_new(secrets);
    bounces->keys_version = version;
    return true;
}

/* ---- the runner ---- */

static bool start(Runner *runner, GError **error)
{
    if (!list_runner_start(runner, error))
        return false;
    const Config *config = runner_config(runner);
    Bounces *bounces = g_new0(Bounces, 1);
    bounces->shared = runner_data(runner);
    bounces->shared->more = bounces;
    bounces->queue = config_string(config, "runner.bounces", "queue");
    if (!bounces->queue)
        bounces->queue = runner_name(runner);
    bounces->hashed = hashed_new(bounces->shared->store);
    bounces->delimiter = config_string(config, "lmtp", "verp_delimiter")[0];
    bounces->probes = config_bool(config, "bounces", "probes");
    bounces->check_us = config_duration(config, "bounces", "check_interval");
    bounces->heartbeat_us = config_duration(config, "master", "heartbeat_interval");
    bounces->keep_us = config_duration(config, "bounces", "remember");
    bounces->notices_a_day = config_integer(config, "bounces", "max_owner_notices_per_day");
    bounces->unsigned_a_day = config_integer(config, "bounces", "max_unsigned_per_day");
    bounces->unsigned_recipients = config_integer(config, "bounces", "max_unsigned_recipients");
    return kept_rows_start(runner, error) && read_keys(bounces, error);
}

static void stop(Runner *runner)
{
    ListRunner *shared = runner_data(runner);
    Bounces *bounces = shared ? shared->more : NULL;
    if (bounces) {
        verp_keys_free(bounces->keys);
        hashed_free(bounces->hashed);
        g_free(bounces);
    }
    list_runner_stop(runner);
}

static bool begin(Runner *runner, GError **error)
{
    ListRunner *shared = runner_data(runner);
    return read_keys(shared->more, error) && kept_rows_begin(runner, error);
}

static bool dispatch(Case *given, GError **error)
{
    const json_t *meta = entry_meta(given->entry);
    if (json_object_get(meta, KEY_DUE))
        return case_due(given, error);
    if (json_object_get(meta, KEY_TAKE_BACK))
        return case_take_back(given, error);
    if (!case_unreached(given, error))
        return false;
    if (json_object_get(meta, KEY_BLOCK_OF) && !json_object_get(meta, KEY_FAILURES))
        return true;
    if (!given->list->settings->process_bounces) {
        list_runner_log(given->entry, "result=discarded (the list does not process bounces)");
        return true;
    }
    if (json_object_get(meta, KEY_FAILURES))
        return case_refusals(given, error);
    given->has_mail = true;
    return case_mail(given, error);
}

/* NULL with *gone: there is no such list any more. */
static const List *find_list(ListRunner *shared, Entry *entry, bool *gone, GError **error)
{
    g_autoptr(GError) fault = NULL;
    const List *list = *entry_list(entry) ? list_cache_get(shared->lists, entry_list(entry), &fault) : NULL;
    *gone = !list && (!fault || g_error_matches(fault, FAIL, FAIL_MISSING));
    if (!list && !*gone)
        g_propagate_error(error, g_steal_pointer(&fault));
    return list;
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    ListRunner *shared = runner_data(runner);
    bool gone;
    const List *list = find_list(shared, entry, &gone, error);
    if (gone && !*entry_list(entry))
        returned_tell(entry, &shared->site, outcome);
    else if (gone)
        list_runner_log(entry, "result=discarded (the list is gone)");
    if (!list)
        return gone;
    Case given = {.bounces = shared->more, .entry = entry, .outcome = outcome, .list = list, .now = clock_now(),
                  .key = name_effect("bounces", entry_name(entry)->hash)};
    bool done = store_begin_people(shared->store, list->list_id, error) &&
                list_runner_end(shared, dispatch(&given, error), error);
    g_free(given.key);
    return done;
}

static void expire(Bounces *bounces)
{
    g_autoptr(GError) error = NULL;
    if (clock_monotonic() < bounces->expire_at)
        return;
    if (!bounce_expire(bounces->shared->store, clock_now() - bounces->keep_us, &error) ||
        !bounce_brake_expire(bounces->shared->store, clock_now(), &error) || !due_believe(bounces, &error))
        log_warn("old bounces stay in the store, or times that lie ahead: %s", error->message);
    bounces->expire_at = clock_monotonic() + EXPIRE_INTERVAL;
}

/* One of the instances looks after time: up to a heartbeat too early, when it is awake for that anyway. */
static int64_t idle(Runner *runner)
{
    ListRunner *shared = runner_data(runner);
    Bounces *bounces = shared->more;
    kept_rows_idle(runner);
    if (runner_slice(runner).index != 0)
        return -1;
    int64_t early = bounces->heartbeat_us <= bounces->check_us / 2 ? bounces->heartbeat_us : 0;
    if (clock_monotonic() >= bounces->check_at - early) {
        g_autoptr(GError) error = NULL;
        if (!due_gather(bounces, runner_spool(runner), &error))
            log_warn("what is due waits: %s", error->message);
        bounces->check_at = clock_monotonic() + bounces->check_us;
        expire(bounces);
    }
    int64_t left = bounces->check_at - clock_monotonic(); /* MAX would look at the clock twice */
    return MAX(left, 0);
}

static const RunnerSpec spec = {
    .name = "bounces",
    .longest_wait = RUNNER_WAIT_MAX,
    .start = start,
    .begin_batch = begin,
    .handle = handle,
    .committed = kept_rows_committed,
    .idle = idle,
    .stop = stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
