/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The defragment runner: keeps the parts of messages until they are complete,
 * and puts them together. README.md has the states and the decisions; part.c takes them.
 */
#include "runners/defragment/defragment.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/posts/fragment_wake.h"

/* ---- settling joins (D5), at work and at a start; waking parts ---- */

/* After the commit of a batch: note in own->joins which of its joins were committed. */
static void settle_batch(Defragment *own)
{
    for (guint i = 0; i < own->joins->len; i++) {
        Join *made = own->joins->pdata[i];
        const Outcome *outcome = made->outcome;
        if (!outcome)
            continue;
        /* Does the entry exist no more, in favour of the whole? Not when it was put back, preserved or shunted. */
        made->committed = outcome->parent && !outcome->error && outcome->drafts->len > 0 &&
                          strcmp(draft_queue(outcome->drafts->pdata[0]), SHUNT_QUEUE) != 0;
        made->outcome = NULL;
    }
    own->counted = false;
}

/* Brings one waiting part to now; one that is not there, or in hand, stays as it is. */
static bool wake_entry(Defragment *own, const uint8_t hash[HASH_SIZE], int64_t due, GError **error)
{
    Entry *entry = NULL;
    if (!runner_find(own->runner, hash, due, &entry, error))
        return false;
    return !entry || runner_leave(own->runner, hash, clock_now(), error);
}

bool settle_wake(Defragment *own, const FragmentSet *set, GError **error)
{
    g_autoptr(GPtrArray) parts = fragment_parts(own->store, set->key, error);
    if (!parts)
        return false;
    for (guint i = 0; i < parts->len; i++) {
        const FragmentPart *row = parts->pdata[i];
        EntryName name = {0};
        if (name_hash_parse(row->entry, name.hash) && !wake_entry(own, name.hash, set->expires_at, error))
            return false;
    }
    return true;
}

/* After the commit: wake the parts of the sets in own->given_up, in whatever slice they are. A failure is only
 * logged. */
static void settle_given_up(Defragment *own)
{
    for (guint i = 0; i < own->given_up->len; i++) {
        const FragmentSet *set = own->given_up->pdata[i];
        g_autoptr(GError) error = NULL;
        if (!fragment_wake(runner_spool(own->runner), set, &error))
            log_warn("list=%s queue=" DEFRAGMENT_QUEUE " set=%.12s its parts stay for an hour, or until the runner "
                     "starts: %s",
                     set->list_id, set->key, error->message);
    }
    g_ptr_array_set_size(own->given_up, 0);
}

/* ---- joins that are not settled ---- */

typedef struct HashSeek {
    const uint8_t *hash;
    bool found;
} HashSeek;

static void seek_hash(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    HashSeek *seek = data;
    seek->found |= memcmp(name->hash, seek->hash, HASH_SIZE) == 0;
}

/* In shunt an entry has a hash of its own, and the name it had before in its metadata. */
static void seek_shunted(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    HashSeek *seek = data;
    g_autoptr(Entry) entry = seek->found ? NULL : entry_open(queue, file, NULL);
    const json_t *fault = entry ? json_object_get(entry_meta(entry), META_FAULT) : NULL;
    EntryName before;
    seek->found |= fault && name_parse(meta_string(fault, "name", ""), &before, NULL) &&
                   memcmp(before.hash, seek->hash, HASH_SIZE) == 0;
}

static bool is_in(Defragment *own, const char *name, QueueVisit *visit, HashSeek *seek, GError **error)
{
    Queue *queue = spool_queue(runner_spool(own->runner), name, error);
    return queue && queue_visit(queue, visit, seek, error);
}

/* Where the entry that joined the set is now decides: it comes again, is decided, or was set aside, as it was or
 * damaged. */
static bool settle_one(Defragment *own, const FragmentSet *set, GError **error)
{
    EntryName name = {0};
    Entry *entry = NULL;
    name_hash_parse(set->joined_by, name.hash);
    if (!runner_find(own->runner, name.hash, 0, &entry, error))
        return false;
    if (entry) /* it was not committed, and will come up again */
        return runner_leave(own->runner, name.hash, 0, error);
    const FragmentEnd damaged = {.state = FRAGMENT_QUARANTINED,
                                 .time = clock_now(),
                                 .reason = "A part of the message was damaged before it could be joined."};
    HashSeek seek = {.hash = name.hash};
    if (!is_in(own, CORRUPT_QUEUE, seek_hash, &seek, error))
        return false;
    if (seek.found)
        return fragment_end(own->store, set->key, &damaged, error) && settle_wake(own, set, error);
    if (!is_in(own, DEFRAGMENT_QUEUE, seek_hash, &seek, error) || !is_in(own, HOLD_QUEUE, seek_hash, &seek, error) ||
        !is_in(own, SHUNT_QUEUE, seek_shunted, &seek, error))
        return false;
    if (!seek.found)
        return fragment_settle(own->store, set->key, error) && settle_wake(own, set, error);
    /* The set is open again, without that part, which is a new one should a person let it try again. The others wait as
     * before. */
    bool reopened;
    if (!fragment_withdraw(own->store, set->joined_by, true, &reopened, error))
        return false;
    log_warn("list=%s queue=" DEFRAGMENT_QUEUE " set=%.12s result=open-again (the entry that joined it was set aside)",
             set->list_id, set->key);
    return settle_wake(own, set, error);
}

/* ---- joins that were made here ---- */

/* Write into the index how the joins of batches that are over ended (D5). Call it in a transaction. */
static bool settle_joins(Defragment *own, GError **error)
{
    for (guint i = own->joins->len; i > 0; i--) {
        const Join *made = own->joins->pdata[i - 1];
        if (made->outcome)
            continue;
        if (made->committed) {
            if (!fragment_settle(own->store, made->key, error))
                return false;
        } else { /* the commit failed: where its entry is now decides */
            g_autoptr(GError) fault = NULL;
            g_autoptr(FragmentSet) set = fragment_find(own->store, made->key, &fault);
            if (!set && !g_error_matches(fault, FAIL, FAIL_MISSING)) /* it may be gone with its list */
                return fail_with(error, &fault);
            if (set && set->state == FRAGMENT_JOINED && !set->settled && !settle_one(own, set, error))
                return false;
        }
        g_ptr_array_remove_index_fast(own->joins, i - 1);
    }
    return true;
}

/* ---- start ---- */

typedef struct Unsettled {
    Defragment *own;
    GPtrArray *sets; /* of FragmentSet: those in F2 of our slice */
} Unsettled;

static bool note_unsettled(const FragmentSet *set, void *data)
{
    Unsettled *unsettled = data;
    EntryName name = {0};
    if (!set->joined_by || !name_hash_parse(set->joined_by, name.hash) ||
        !slice_owns(runner_slice(unsettled->own->runner), name.hash))
        return true;
    FragmentSet *copy = g_new0(FragmentSet, 1);
    *copy = (FragmentSet){.key = g_strdup(set->key),
                          .list_id = g_strdup(set->list_id),
                          .joined_by = g_strdup(set->joined_by),
                          .expires_at = set->expires_at};
    g_ptr_array_add(unsettled->sets, copy);
    return true;
}

/* Waiting entries that the index does not want to wait. */
typedef struct SetCheck {
    Defragment *own;
    int64_t now;
    GArray *wake; /* of EntryName */
    GError *error;
} SetCheck;

static void check_waiting(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    SetCheck *check = data;
    if (check->error || strcmp(rest, ".msg") != 0 || name->due <= check->now ||
        !slice_owns(runner_slice(check->own->runner), name->hash))
        return;
    char digits[HASH_DIGITS + 1];
    name_hash_format(name->hash, digits);
    g_autoptr(GError) fault = NULL;
    g_autoptr(FragmentSet) set = fragment_find_entry(check->own->store, digits, &fault);
    if (set && (set->state == FRAGMENT_OPEN || (set->state == FRAGMENT_JOINED && !set->settled)))
        return;
    if (!set && !g_error_matches(fault, FAIL, FAIL_MISSING))
        check->error = g_steal_pointer(&fault);
    else
        g_array_append_val(check->wake, *name);
}

static bool check_queue(Defragment *own, GError **error)
{
    g_autoptr(GArray) wake = g_array_new(FALSE, FALSE, sizeof(EntryName));
    SetCheck check = {.own = own, .now = clock_now(), .wake = wake};
    Queue *queue = spool_queue(runner_spool(own->runner), DEFRAGMENT_QUEUE, error);
    if (!queue || !queue_visit(queue, check_waiting, &check, error))
        return false;
    if (check.error) {
        g_propagate_error(error, check.error);
        return false;
    }
    for (guint i = 0; i < wake->len; i++) {
        const EntryName *name = &g_array_index(wake, EntryName, i);
        if (!wake_entry(own, name->hash, name->due, error))
            return false;
    }
    if (wake->len > 0)
        log_info("queue " DEFRAGMENT_QUEUE ": %u waiting entries that the index does not know, or whose set has ended, "
                 "are handled again",
                 wake->len);
    return true;
}

/* Have parts handled now that wait and that the index does not know, as those of a list that was removed. It looks
 * once a batch, and else does nothing. */
static bool settle_unknown(Defragment *own, GError **error)
{
    if (own->looked)
        return true;
    own->looked = true;
    return check_queue(own, error);
}

/* At a start: settle the joins that a process before has left open, and wake parts that the index does not know. */
static bool settle_start(Defragment *own, GError **error)
{
    g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func((GDestroyNotify)fragment_set_free);
    Unsettled unsettled = {own, sets};
    if (!fragment_each_unsettled(own->store, own->host, note_unsettled, &unsettled, error))
        return false;
    for (guint i = 0; i < sets->len; i++)
        if (!settle_one(own, sets->pdata[i], error))
            return false;
    return check_queue(own, error);
}

/* ---- the runner ---- */

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
