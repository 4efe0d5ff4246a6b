/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The hooks runner. An entry is an event, or one delivery of it to one web hook. Of an event the store keeps a row, and
 * the hop makes an entry for each hook that wants it. A delivery ends when the hook has taken it, and else comes again.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/event.h"
#include "lists/keys.h"
#include "runners/hooks/hook.h"
#include "runners/posts/runner_seat.h"
#include "runners/runner.h"
#include "store/event_row.h"
#include "store/store.h"
#include "switchboard/fault.h"

#define BACKOFF_MIN (5 * CLOCK_SECOND)
#define BACKOFF_MAX (3600 * CLOCK_SECOND)
#define SLOW (CLOCK_SECOND / 10) /* a delivery that takes as long makes others wait */
#define TURN (1 * CLOCK_SECOND)  /* of slow deliveries to one hook; then it rests for as long as they took */
#define EXPIRE_EVERY (3600 * CLOCK_SECOND)

/* An event of the batch at hand. */
typedef struct Fresh {
    EventRow event;
    Outcome *outcome; /* borrowed */
} Fresh;

typedef struct Hooks {
    GPtrArray *hooks; /* of Hook */
    GPtrArray *fresh; /* of Fresh */
    Seat seat;        /* it comes back: a hook's failures are remembered */
    bool noted;       /* the batch at hand left events in the store */
    int64_t give_up, keep, expire_at;
    char *sign;       /* the file that is touched for those who read events */
} Hooks;

static void fresh_free(void *data)
{
    Fresh *fresh = data;
    g_free(fresh->event.id);
    g_free(fresh->event.type);
    g_free(fresh->event.list_id);
    g_free(fresh->event.body);
    event_place_clear(&fresh->event.place);
    g_free(fresh);
}

static bool hooks_start(Runner *runner, GError **error)
{
    const Config *config = runner_config(runner);
    Hooks *own = g_new0(Hooks, 1);
    runner_set_data(runner, own);
    own->give_up = config_duration(config, "hooks", "give_up");
    own->keep = config_duration(config, "hooks", "keep");
    own->sign = g_build_filename(config_string(config, "master", "runtime_directory"), EVENT_SIGN, NULL);
    own->fresh = g_ptr_array_new_with_free_func(fresh_free);
    own->hooks = hooks_read(config, error);
    return own->hooks && runner_seat_open(runner, &own->seat, true, error) &&
           runner_seat_settle(runner, &own->seat, error);
}

static void hooks_stop(Runner *runner)
{
    Hooks *own = runner_data(runner);
    if (!own)
        return;
    seat_leave(&own->seat);
    g_clear_pointer(&own->hooks, g_ptr_array_unref);
    g_ptr_array_unref(own->fresh);
    g_free(own->sign);
    g_free(own);
}

/* ---- an event ---- */

static void divide(Hooks *own, Entry *entry, Outcome *outcome)
{
    json_t *meta = entry_meta(entry);
    const char *type = meta_string(meta, KEY_EVENT, ""), *list_id = entry_list(entry);
    g_autoptr(GBytes) message = entry_message(entry);
    gsize length;
    const char *octets = g_bytes_get_data(message, &length);
    Fresh *fresh = g_new0(Fresh, 1);
    fresh->event = (EventRow){.id = g_strdup(meta_string(meta, KEY_EVENT_ID, "")), .type = g_strdup(type),
                           .list_id = g_strdup(list_id ? list_id : ""), .body = g_strndup(octets, length),
                           .made_at = entry_arrival(entry),
                           .place = {g_strdup(meta_string(meta, KEY_EVENT_HOST, "")),
                                     meta_integer(meta, KEY_EVENT_LIST, 0), meta_integer(meta, KEY_EVENT_DOMAIN, 0)}};
    fresh->outcome = outcome;
    g_ptr_array_add(own->fresh, fresh);
    for (guint at = 0; at < own->hooks->len; at++) {
        const Hook *hook = own->hooks->pdata[at];
        if (!hook_wants(hook, type, fresh->event.list_id))
            continue;
        Draft *draft = draft_from_entry(EVENT_QUEUE, entry);
        meta_set_string(draft_meta(draft), KEY_HOOK, hook->name);
        meta_set_string(draft_meta(draft), META_SHARD, hook->name);
        outcome_add(outcome, draft);
    }
}

/* Only the events come again when the store fails: deliveries of the batch were made, and must not be made twice. */
static bool hooks_end(Runner *runner, GError **error)
{
    (void)error;
    Hooks *own = runner_data(runner);
    g_autoptr(GError) fault = NULL;
    bool added = own->fresh->len > 0 && store_begin_people(own->seat.store, NULL, &fault);
    for (guint at = 0; added && at < own->fresh->len; at++)
        if (!event_row_add(own->seat.store, &((Fresh *)own->fresh->pdata[at])->event, &fault)) {
            store_rollback(own->seat.store);
            added = false;
        }
    own->noted = added && store_commit(own->seat.store, &fault);
    for (guint at = 0; fault && at < own->fresh->len; at++) {
        Outcome *outcome = ((Fresh *)own->fresh->pdata[at])->outcome;
        g_ptr_array_set_size(outcome->drafts, 0);
        fail(&outcome->error, FAIL_LATER, "%s", fault->message);
    }
    g_ptr_array_set_size(own->fresh, 0);
    return true;
}

/* Tells those who read events that there are more. They also look now and then. */
static void hooks_committed(Runner *runner)
{
    Hooks *own = runner_data(runner);
    if (!own->noted)
        return;
    own->noted = false;
    auto_fd fd = open(own->sign, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || futimens(fd, NULL) != 0)
        log_warn("%s cannot be touched, so that readers of events learn of them later", own->sign);
}

/* ---- a delivery ---- */

static Hook *find(const Hooks *own, const char *name)
{
    for (guint at = 0; at < own->hooks->len; at++) {
        Hook *hook = own->hooks->pdata[at];
        if (strcmp(hook->name, name) == 0)
            return hook;
    }
    return NULL;
}

static int64_t backoff(int64_t attempts)
{
    return MIN(BACKOFF_MIN << CLAMP(attempts - 1, 0, 16), BACKOFF_MAX);
}

/* Tries is an entry's note of its tries. */
typedef struct Tries {
    int64_t attempts; /* that failed */
    int64_t since;    /* it was first looked at then, or first again after it came back from shunt */
} Tries;

static void put_again(Entry *entry, Outcome *outcome, const Tries *tries, int64_t due)
{
    Draft *draft = draft_from_entry(EVENT_QUEUE, entry);
    meta_set_integer(draft_meta(draft), KEY_ATTEMPTS, tries->attempts);
    meta_set_integer(draft_meta(draft), KEY_TRIED_SINCE, tries->since);
    draft_set_due(draft, due);
    outcome_add(outcome, draft);
}

static void set_aside(Outcome *outcome, const char *reason)
{
    json_t *meta = draft_meta(outcome_shunt(outcome, "hooks", reason));
    json_object_del(meta, KEY_ATTEMPTS);
    json_object_del(meta, KEY_TRIED_SINCE); /* shunt retry gives it the whole time again */
}

/* Of all that waits for a hook that fails, one event is tried each time. The others are given up unsent when their time
 * is over, because else they would wait for ever. */
static void wait_for_hook(const Hooks *own, const Hook *hook, Entry *entry, Outcome *outcome, const Tries *tries)
{
    if (hook->failures == 0 || clock_now() - tries->since <= own->give_up) {
        put_again(entry, outcome, tries, clock_of_steady(hook->rests_until));
        return;
    }
    g_autofree char *reason = g_strdup_printf("%s took no event in this time", hook->url);
    log_warn("%s hook=%s id=%s result=shunted reason=\"%s\"", entry_trace(entry), hook->name,
             meta_string(entry_meta(entry), KEY_EVENT_ID, ""), reason);
    set_aside(outcome, reason);
}

static void deliver(Runner *runner, Hook *hook, Entry *entry, Outcome *outcome)
{
    Hooks *own = runner_data(runner);
    json_t *meta = entry_meta(entry);
    g_autoptr(GError) refusal = NULL;
    int64_t now = clock_now();
    Tries tries = {meta_integer(meta, KEY_ATTEMPTS, 0), meta_integer(meta, KEY_TRIED_SINCE, now)};
    if (clock_steady() < hook->rests_until) {
        wait_for_hook(own, hook, entry, outcome, &tries);
        return;
    }
    const char *event = meta_string(meta, KEY_EVENT, ""), *id = meta_string(meta, KEY_EVENT_ID, "");
    g_autoptr(GBytes) message = entry_message(entry);
    const HookDelivery delivery = {id, message, runner_alive, runner};
    int64_t begun = clock_monotonic();
    HookResult result = hook_send(hook, &delivery, &refusal);
    int64_t took = clock_monotonic() - begun;
    hook->spent += took >= SLOW ? took : 0;
    if (hook->spent >= TURN) { /* others have waited for this one */
        hook->rests_until = clock_steady() + hook->spent;
        hook->spent = 0;
    }
    now = clock_now();
    if (result == HOOK_FAILED && runner_stopping(runner)) { /* we may have cut it off: that is no fault of the hook */
        put_again(entry, outcome, &tries, now + 1);
        return;
    }
    if (result == HOOK_FAILED) {
        int64_t next_try = clock_steady() + backoff(++hook->failures);
        hook->rests_until = MAX(hook->rests_until, next_try);
    } else
        hook->failures = 0; /* an event that it refuses shows as well that it works */
    if (result == HOOK_TAKEN) {
        log_info("%s hook=%s event=%s id=%s result=sent", entry_trace(entry), hook->name, event, id);
        return;
    }
    tries.attempts++;
    bool last = now - tries.since > own->give_up;
    log_warn("%s hook=%s event=%s id=%s result=%s reason=\"%s\"", entry_trace(entry), hook->name, event, id,
             last ? "shunted" : "later", refusal->message);
    if (last)
        set_aside(outcome, refusal->message);
    else
        put_again(entry, outcome, &tries, MAX(now + backoff(tries.attempts), clock_of_steady(hook->rests_until)));
}

static bool hooks_handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    (void)error;
    Hooks *own = runner_data(runner);
    const char *name = meta_string(entry_meta(entry), KEY_HOOK, NULL);
    Hook *hook = name ? find(own, name) : NULL;
    if (!name)
        divide(own, entry, outcome);
    else if (hook)
        deliver(runner, hook, entry, outcome);
    else
        log_warn("%s hook=%s id=%s result=dropped (there is no such hook, or it is not enabled)", entry_trace(entry),
                 name, meta_string(entry_meta(entry), KEY_EVENT_ID, ""));
    return true;
}

static int64_t hooks_idle(Runner *runner)
{
    Hooks *own = runner_data(runner);
    g_autoptr(GError) why = NULL;
    int64_t now = clock_monotonic();
    if (own->seat.store && now >= own->expire_at) {
        if (!event_row_expire(own->seat.store, clock_now() - own->keep, &why))
            log_warn("events that are too old could not be removed: %s", why->message);
        own->expire_at = now + EXPIRE_EVERY;
    }
    return own->expire_at - now;
}

static const RunnerSpec spec = {
    .name = "hooks",
    .longest_wait = RUNNER_WAIT_MAX,
    .durable_claim = true,
    .start = hooks_start,
    .handle = hooks_handle,
    .end_batch = hooks_end,
    .committed = hooks_committed,
    .idle = hooks_idle,
    .stop = hooks_stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
