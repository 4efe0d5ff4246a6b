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
#include "mail/bounce/dsn.h"
#include "mail/text/notice.h"
#include "runners/bounces/case.h"

#include "lists/keys.h"
#include "runners/posts/list_runner.h"
#include "store/lists/list_setting.h"

#define EXPIRE_INTERVAL (3600 * CLOCK_SECOND)

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
    return kept_rows_start(runner, error) && seat_keys_now(&bounces->shared->seat, error);
}

static void stop(Runner *runner)
{
    ListRunner *shared = runner_data(runner);
    Bounces *bounces = shared ? shared->more : NULL;
    if (bounces) {
        hashed_free(bounces->hashed);
        g_free(bounces);
    }
    list_runner_stop(runner);
}

static bool begin(Runner *runner, GError **error)
{
    ListRunner *shared = runner_data(runner);
    return seat_keys_now(&shared->seat, error) && kept_rows_begin(runner, error);
}

/* Mail to the people who run the site (TO_SITE) that out could not deliver: a report of RFC 3464 goes to the envelope's
 * sender, as an MTA sends it. Without one, or where the entry has no failures, only the log tells. */
static void return_to_sender(Entry *entry, const WorkSite *site, Outcome *outcome)
{
    json_t *from = entry_meta(entry), *failure, *failures = json_object_get(from, KEY_FAILURES);
    const char *sender = meta_string(from, KEY_ENVELOPE_SENDER, "");
    size_t at, count = json_array_size(failures);
    if (count == 0 || !*sender) {
        list_runner_log(entry, "from=<%s> result=discarded (it is no list's, and has no sender to be told)", sender);
        return;
    }
    g_autofree DsnRecipient *recipients = g_new0(DsnRecipient, count + 1);
    g_autoptr(GString) text = g_string_new("Subject: Undelivered: your mail\n\nYour mail, whose header is attached, "
                                           "could not be delivered.\n\n");
    json_array_foreach(failures, at, failure) {
        recipients[at] = (DsnRecipient){.address = meta_string(failure, "address", ""),
                                        .status = meta_string(failure, "status", "5.0.0"),
                                        .reply = meta_string(failure, "reply", ""),
                                        .relay = meta_string(failure, "relay", NULL)};
        g_string_append_printf(text, "  %s\n  %s\n\n", recipients[at].address, recipients[at].reply);
    }
    g_autofree char *status = dsn_delivery_status(&(Dsn){.reporting_host = site->hostname,
                                                         .arrival = entry_arrival(entry),
                                                         .recipients = recipients,
                                                         .count = count});
    g_autofree char *id = notice_id("returned", site->hostname);
    g_autofree char *daemon = g_strconcat("mailer-daemon@", site->hostname, NULL);
    g_autoptr(GBytes) header = entry_message(entry);
    g_autoptr(GPtrArray) pieces = notice_compose(&(Notice){.from_name = "Mail delivery",
                                                           .from = daemon,
                                                           .to = sender,
                                                           .text = text->str,
                                                           .id = id,
                                                           .in_reply_to = meta_string(from, KEY_MESSAGE_ID, NULL),
                                                           .date = clock_now(),
                                                           .replied = true,
                                                           .attach = NOTICE_HEADER,
                                                           .about = header,
                                                           .delivery_status = status});
    json_t *meta = json_object();
    meta_set_string(meta, META_TRACE, entry_trace(entry));
    meta_set_integer(meta, META_ARRIVAL, clock_unique());
    meta_set_string(meta, KEY_SENDER, "");
    meta_set_string(meta, KEY_ENVELOPE_SENDER, "");
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    meta_set_string(meta, KEY_PRIORITY, "notice");
    meta_set_bool(meta, KEY_BODY_8BIT, true);
    Draft *draft = draft_new(NOTICE_QUEUE, meta);
    for (guint i = 0; i < pieces->len; i++)
        draft_add_message(draft, pieces->pdata[i]);
    const char *const to[] = {sender, NULL};
    draft_set_addresses(draft, g_strdupv((char **)to));
    outcome_add(outcome, draft);
    list_runner_log(entry, "to=<%s> result=returned", sender);
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

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GError) fault = NULL;
    const List *list = *entry_list(entry) ? list_cache_get(shared->lists, entry_list(entry), &fault) : NULL;
    if (!list && fault && !g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    if (!list && !*entry_list(entry))
        return_to_sender(entry, &shared->site, outcome);
    else if (!list)
        list_runner_log(entry, "result=discarded (the list is gone)");
    if (!list)
        return true;
    Case given = {.bounces = shared->more, .entry = entry, .outcome = outcome, .list = list, .now = clock_now(),
                  .key = name_effect("bounces", entry_name(entry)->hash)};
    bool done = store_begin_people(shared->store, list->list_id, error) &&
                list_runner_end(shared, dispatch(&given, error), error);
    g_free(given.key);
    return done;
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
        if (clock_monotonic() >= bounces->expire_at) {
            g_autoptr(GError) fault = NULL;
            if (!bounce_expire(shared->store, clock_now() - bounces->keep_us, &fault) ||
                !bounce_brake_expire(shared->store, clock_now(), &fault) || !due_believe(bounces, &fault))
                log_warn("old bounces stay in the store, or times that lie ahead: %s", fault->message);
            bounces->expire_at = clock_monotonic() + EXPIRE_INTERVAL;
        }
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
