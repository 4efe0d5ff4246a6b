/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The runner out: delivers the entries of the queues out and retry. One event
 * loop drives all connections; after each round of events comes one turn of
 * bookkeeping (turn()): what was delivered is made safe, what is over leaves, new
 * entries are claimed, and only then do free connections get new work.
 */
#include "runners/outgoing/out.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/hosts/own_spool.h"
#include "lists/keys.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/requests.h"
#include "runners/outgoing/transport.h"
#include "runners/sweep.h"

/* The longest wait for further results, us. */
#define GATHER_MAX (CLOCK_SECOND / 500)
/* Beats are no more frequent than this. */
#define BEAT_MIN (CLOCK_SECOND / 10)
/* How long an operator's command has to take an entry that it asked for. */
#define LEAVE_TIME (5 * CLOCK_SECOND)
/* How long the farewells of connections may take when stopping. */
#define FAREWELL (2 * CLOCK_SECOND)
#define SHARE_INTERVAL CLOCK_SECOND

/* End the process when the disk no longer holds what we think; the next start recovers. */
G_NORETURN static void die(const char *doing, const GError *error)
{
    log_fatal(CHILD_EXIT_LATER, "%s: %s", doing, error->message);
}

/* --- the master --------------------------------------------------------- */

static void open_control(Out *out);

/* An event loop that comes round is moving, also while it waits for a slow server: the protocol's own time-outs
 * end that. */
static void beat(Out *out)
{
    int64_t oldest = 0;
    size_t backlog = out->held.length + claims_count(&out->claims);
    for (int i = 0; i < SOURCES; i++) {
        int64_t first = 0;
        backlog += inbox_backlog(out->inboxes[i], clock_now(), &first);
        if (first > 0 && (oldest == 0 || first < oldest))
            oldest = first;
    }
    const Delivery *oldest_held = out->held.head ? out->held.head->data : NULL;
    /* The runtime directory may have been removed, and made again by the master. */
    const char *directory = config_string(out->config, "master", "runtime_directory");
    if (!(out->control && control_server_present(out->control)) && access(directory, W_OK) == 0) {
        g_clear_pointer(&out->control, control_server_free);
        open_control(out);
    }
    out->beaten = clock_monotonic();
    out->beat_at = out->beaten + out->heartbeat_us;
    child_beat(++out->progress, out->finish.done, backlog, oldest, oldest_held ? entry_text(oldest_held->entry) : NULL);
}

/* --- deliveries --------------------------------------------------------- */

static void delivery_ends(void *data, Delivery *delivery)
{
    Out *out = data;
    reader_forget(&out->reader, delivery);
    for (guint i = 0; i < delivery->jobs->len; i++) {
        Job *job = delivery->jobs->pdata[i];
        if (job->scheduler)
            scheduler_retire(job);
    }
    g_queue_push_tail(&out->over, delivery);
}

/* Before an entry is tried again that the system would not let us work on. */
#define UNREADABLE_DELAY (60 * CLOCK_SECOND)
#define END_WORK_TRIES 3

static void refuse_entry(Out *out, Entry *entry, unsigned source, const GError *error)
{
    g_autoptr(GError) fault = NULL;
    bool never = g_error_matches(error, FAIL, FAIL_NEVER);
    if (!never)
        log_error("%s queue=%s result=later (%s)", entry_trace(entry), queue_name(entry_queue(entry)),
                  error->message);
    if (never ? !finish_shunt(&out->finish, entry, source, error, &fault)
              : !inbox_release(out->inboxes[source], entry, clock_now() + UNREADABLE_DELAY, &fault))
        die("set an entry aside", fault);
}

/* Makes a delivery of a claimed entry. The crash count covers what looks into the bytes. */
static void adopt(Out *out, Entry *entry, unsigned source)
{
    g_autoptr(GError) error = NULL;
    bool begun = entry_begin_work(entry, &error), ended = !begun;
    Delivery *delivery = begun ? delivery_new(entry, source, out->keys, &error) : NULL;
    /* An entry whose crash count stays raised would be charged with what befalls this process later. */
    for (int tries = 1; !ended && tries < END_WORK_TRIES; tries++)
        ended = entry_end_work(entry, NULL);
    if (!ended && !entry_end_work(entry, error ? NULL : &error) && delivery) {
        delivery->entry = NULL; /* it waits, and is not in the hands of a process that may die of the same disk */
        g_clear_pointer(&delivery, delivery_free);
    }
    if (!delivery) {
        refuse_entry(out, entry, source, error);
        return;
    }
    g_queue_push_tail_link(&out->held, &delivery->held);
    out->notices += source == SOURCE_NOTICE;
    const char *chosen = meta_string(entry_meta(entry), KEY_TRANSPORT, NULL);
    delivery->chosen = chosen ? out_find_transport(out, chosen) : out->standard;
    reader_begin(&out->reader, delivery);
    if (delivery_over(delivery)) /* or a crash came between its last mark and its end */
        delivery_ends(out, delivery);
}

/* --- what transports say ------------------------------------------------ */

static void end_batch(Out *out, Batch *batch)
{
    Delivery *delivery = batch->delivery;
    reader_ended(&out->reader, batch);
    batch_free(batch);
    if (delivery_over(delivery))
        delivery_ends(out, delivery);
}

static void on_finished(void *data, Batch *batch)
{
    Out *out = data;
    Delivery *delivery = batch->delivery;
    Destination *destination = batch->nexthop->destination;
    g_autoptr(GError) error = NULL;
    int64_t now = clock_now(), age = now - entry_arrival(delivery->entry);
    out->progress++;

    /* Recipients that were refused for the destination's sake wait for it, but not for as long as recipients that were
     * not tried. Mail of a sender whom the relay refuses is called back when that is over, whether it was tried or
     * not. */
    bool waits = false;
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        waits |= fate->waits && fate->count > 0;
    }
    if (waits) {
        int64_t due = now + transport_wait_time(batch->nexthop->transport, age);
        if (destination_dead(destination))
            due = MAX(due, clock_of_steady(destination_return_time(destination, clock_steady(), g_random_double())));
        delivery_wait_for(delivery, destination, due, destination->refused_at == 0);
    }
    if (!marks_batch(&out->marks, batch, &error))
        die("mark recipients", error);
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        if (fate->result.verdict != SMTP_LATER || fate->count == 0)
            continue;
        g_free(delivery->last_reply);
        delivery->last_reply = g_strdup(fate->result.text);
        /* A server that says nothing is a matter of the recipient's domain. */
        delivery->last_phase = fate->result.code > 0 ? fate_phase(fate) : "rcpt";
    }
    report_batch(batch, out->every_recipient);

    /* An entry that has a reply was tried before. */
    bool first = !meta_string(entry_meta(delivery->entry), KEY_LAST_REPLY, NULL);
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        if (first)
            delays_add(&out->delays, DELAY_UNTIL_TRIED, age, fate->count);
        if (fate->result.verdict != SMTP_LATER)
            delays_add(&out->delays, DELAY_UNTIL_SETTLED, age, fate->count);
    }
    end_batch(out, batch);
}

/* There is no room for it now. */
static void on_parked(void *data, Batch *batch, int64_t due)
{
    Delivery *delivery = batch->delivery;
    delivery_wait_for(delivery, batch->nexthop->destination, clock_of_steady(due), false);
    delivery->parked += batch->count;
    end_batch(data, batch);
}

/* Claim the entries that were put off for the destination's sake before others. */
static void on_recalled(void *data, Destination *destination)
{
    Out *out = data;
    parked_move(&destination->load.parked, out->recalled);
}

/* Give the entry back as it was, when its batches that are out have come back. */
static void on_withdrawn(void *data, Batch *batch)
{
    Out *out = data;
    batch->delivery->withdrawn = true;
    reader_forget(&out->reader, batch->delivery);
    end_batch(out, batch);
}

static const TransportOwner transport_owner = {on_finished, on_parked, on_withdrawn, on_recalled};

/* --- the turn ----------------------------------------------------------- */

static void finish_all(Out *out)
{
    g_autoptr(GError) error = NULL;
    out->ended += out->over.length;
    for (const GList *link = out->over.head; link; link = link->next) {
        Delivery *delivery = link->data;
        g_queue_unlink(&out->held, &delivery->held);
        out->notices -= delivery->source == SOURCE_NOTICE;
    }
    if (!finish_over(&out->finish, &out->over, &error))
        die("end entries", error);
}

/* Where a claim fails, nobody knows what the directory says: INTERNALS.md has the process end. */
static void collect(Out *out, GPtrArray *claimed[SOURCES])
{
    g_autoptr(GError) error = NULL;
    for (unsigned source = 0; source < SOURCES; source++)
        claimed[source] = g_ptr_array_new();
    if (!claims_collect(&out->claims, out->inboxes, claimed, &error))
        die("claim", error);
}

static void adopt_claimed(Out *out)
{
    GPtrArray *claimed[SOURCES];
    collect(out, claimed);
    size_t longest = MAX(claimed[SOURCE_OUT]->len, claimed[SOURCE_RETRY]->len);
    for (guint i = 0; i < claimed[SOURCE_NOTICE]->len; i++)
        adopt(out, claimed[SOURCE_NOTICE]->pdata[i], SOURCE_NOTICE);
    for (guint i = 0; i < longest; i++)
        for (unsigned source = SOURCE_OUT; source <= SOURCE_RETRY; source++)
            if (i < claimed[source]->len)
                adopt(out, claimed[source]->pdata[i], source);
    for (unsigned source = 0; source < SOURCES; source++)
        g_ptr_array_unref(claimed[source]);
}

/* Claims the next ones, those before being in hand. Nobody waits for a thread while there is nothing else to do. */
static void claim(Out *out)
{
    if (claims_ready(&out->claims))
        adopt_claimed(out);
    if (out->stopping || claims_count(&out->claims) > 0 || out_claim_pause(out) > 0)
        return;
    out_pick_all(out);
    if (claims_count(&out->claims) == 0)
        return;
    out->ended = 0;
    out->claimed_at = clock_monotonic();
    claims_begin(&out->claims, out_engaged(out) && claims_count(&out->claims) >= OUT_ASIDE_MIN);
    if (claims_ready(&out->claims))
        adopt_claimed(out);
}

static void turn(Out *out)
{
    g_autoptr(GError) error = NULL;
    bool moved = out->over.length > 0;
    finish_all(out);
    for (int i = 0; i < SOURCES; i++) {
        if (!inbox_refresh(out->inboxes[i], &error))
            die("list the queue", error);
        if (inbox_needs_start(out->inboxes[i]))
            child_stop();
    }
    marks_sync_begin(&out->marks);
    claim(out); /* meanwhile: it is felt by nobody yet */
    if (!marks_sync_end(&out->marks, &error))
        die("sync", error);
    reader_refill(&out->reader, delivery_ends, out);
    for (guint i = 0; i < out->transports->len; i++) /* in turn, another one first each time */
        transport_feed(out->transports->pdata[(i + out->turns) % out->transports->len]);
    out->turns++;
    if (!out->shared.alone) /* else everything waits for one */
        clog_look(&out->clog, out->transports, out->held.length);
    int64_t now = clock_monotonic();
    if (now >= out->beat_at || (moved && now >= out->beaten + BEAT_MIN))
        beat(out);
}

/* --- what is kept, and what the operator says --- */

/* No more of it is sent; it leaves when what is under way has come back, at once when nothing is. It is held meanwhile,
 * so that it ends once. */
static void withdraw_delivery(Out *out, Delivery *delivery)
{
    delivery->withdrawn = delivery->asked = true;
    delivery->batches++;
    reader_forget(&out->reader, delivery);
    for (guint i = 0; i < delivery->jobs->len; i++) {
        Job *job = delivery->jobs->pdata[i];
        Destination *destination;
        Batch *batch;
        while (job->scheduler && (batch = scheduler_take_of(job, &destination)) != NULL) {
            batch->nexthop->batches--;
            end_batch(out, batch);
        }
    }
    delivery->batches--;
    if (delivery_over(delivery))
        delivery_ends(out, delivery);
}

/* The order "leave" (control_server.h). */
static json_t *leave_entries(Out *out, const json_t *entries)
{
    size_t count = 0, at;
    json_t *text;
    out->asked_until = clock_monotonic() + LEAVE_TIME;
    json_array_foreach(entries, at, text)
        if (json_is_string(text))
            g_hash_table_replace(out->asked, g_strdup(json_string_value(text)),
                                 g_memdup2(&out->asked_until, sizeof out->asked_until));
    if (claims_count(&out->claims) > 0)
        adopt_claimed(out);
    for (GList *link = out->held.head; link; link = link->next) {
        Delivery *delivery = link->data;
        char hash[HASH_DIGITS + 1];
        name_hash_format(entry_name(delivery->entry)->hash, hash);
        if (!g_hash_table_contains(out->asked, hash) || delivery->withdrawn || delivery_over(delivery))
            continue;
        withdraw_delivery(out, delivery);
        count++;
    }
    return json_pack("{s:b,s:i,s:I,s:[]}", "ok", 1, "instance", (int)out->slice.index, "total", (json_int_t)count,
                     "destinations");
}

static json_t *answer(void *data, const json_t *request, GError **error)
{
    Out *out = data;
    bool changed;
    if (g_strcmp0(json_string_value(json_object_get(request, "verb")), "leave") == 0)
        return leave_entries(out, json_object_get(request, "entries"));
    json_t *reply = requests_answer(out, request, &changed, error);
    if (changed)
        saved_state_save(&out->saved, out->transports);
    return reply;
}

static void open_control(Out *out)
{
    static const ControlOwner owner = {answer};
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_strdup_printf("%s-%u.sock", out->child->runner, out->child->instance);
    g_autofree char *path = g_build_filename(config_string(out->config, "master", "runtime_directory"), name, NULL);
    out->control = control_server_new(out->base, path, &owner, out, &error);
    if (!out->control) /* mail goes on without it */
        log_warn("no orders about destinations can be taken: %s", error->message);
}

/* Of several hosts, each keeps to its part of the limits. */
static void keep_share(Out *out)
{
    bool within = true;
    unsigned hosts = limit_share_look(out->share);
    for (guint i = 0; i < out->transports->len; i++)
        within &= transport_share(out->transports->pdata[i], hosts);
    if (within)
        limit_share_kept(out->share);
    out->share_at = clock_monotonic() + SHARE_INTERVAL;
}

/* --- the loop ----------------------------------------------------------- */

/* Microseconds until something must happen without any event. */
static int64_t next_wake(const Out *out)
{
    int64_t wait = out->beat_at - clock_monotonic();
    if (limit_share_changes(out->share))
        wait = MIN(wait, out->share_at - clock_monotonic());
    if (!g_queue_is_empty((GQueue *)&out->over))
        return 0;
    int64_t now = clock_steady();
    for (guint i = 0; i < out->transports->len; i++) {
        int64_t wake = transport_wake(out->transports->pdata[i]);
        if (wake > 0)
            wait = MIN(wait, MAX(wake - now, 0));
    }
    int64_t more = reader_wait(&out->reader);
    if (more >= 0 && !out->stopping)
        wait = MIN(wait, more);
    int64_t pause = out_claim_pause(out);
    if (g_hash_table_size(out->asked) > 0 && claims_count(&out->claims) == 0 && !out->stopping)
        wait = MIN(wait, MAX(out->asked_until - clock_monotonic(), pause));
    if (out->recalled->len > 0 && claims_count(&out->claims) == 0 && out_claim_quota(out) > 1)
        wait = MIN(wait, pause);
    for (int i = 0; i < SOURCES; i++) {
        if (claims_count(&out->claims) > 0 || out_source_quota(out, (unsigned)i) == 0)
            continue;
        int64_t due = inbox_wait(out->inboxes[i], clock_now());
        if (due >= 0)
            wait = MIN(wait, MAX(due, pause));
    }
    if (out->stopping)
        wait = MIN(wait, out->stop_at - clock_monotonic());
    return MAX(wait, 0);
}

static void one_round(Out *out)
{
    /* While a queue has more that is due, nothing is gained by being woken for what comes into it (or is renamed there,
     * by ourselves): each turn looks. */
    for (int i = 0; i < SOURCES; i++) {
        if (!out->watches[i])
            continue;
        if (inbox_wait(out->inboxes[i], clock_now()) == 0)
            event_del(out->watches[i]);
        else
            event_add(out->watches[i], NULL);
    }
    int64_t wait = next_wake(out);
    struct timeval until = {.tv_sec = wait / CLOCK_SECOND, .tv_usec = wait % CLOCK_SECOND};
    if (wait > 0)
        event_add(out->timer, &until);
    event_base_loop(out->base, wait > 0 ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK);

    /* Results that come while the last sync would take are made safe with the ones at hand: one sync for all. Nothing
     * waits when nothing else is under way. */
    int64_t gather_until = clock_monotonic() + MIN(out->marks.took, GATHER_MAX);
    for (int64_t left;
         out->marks.dirty->len > 0 && out_busy(out) > 0 && (left = gather_until - clock_monotonic()) > 0;) {
        struct timeval rest = {.tv_usec = left};
        event_add(out->timer, &rest);
        event_base_loop(out->base, EVLOOP_ONCE);
    }
    turn(out);
}

static bool idle(const Out *out)
{
    return out->held.length == 0 && claims_count(&out->claims) == 0 && next_wake(out) > 0;
}

static void work(Out *out)
{
    while (!child_stopping()) {
        g_autoptr(GError) error = NULL;
        if (idle(out) && hop_owes(out->hop) && !hop_settle(out->hop, &error))
            die("settle", error);
        if (idle(out) && clock_monotonic() >= out->sweep_at) {
            /* Nothing is held now: also what a lost parent left behind may be looked for. */
            out->sweep_at = clock_monotonic() + SWEEP_INTERVAL;
            for (int i = 0; i < SOURCES; i++)
                sweep_slice(inbox_queue(out->inboxes[i]), out->slice,
                            config_duration(out->config, "spool", "tmp_lifetime"));
        }
        if (clock_monotonic() >= out->remember_at) {
            for (guint i = 0; i < out->transports->len; i++)
                transport_tidy(out->transports->pdata[i]);
            saved_state_keep(&out->saved, out->transports);
            out->remember_at = clock_monotonic() + SAVED_STATE_INTERVAL;
        }
        if (limit_share_changes(out->share) && clock_monotonic() >= out->share_at)
            keep_share(out);
        one_round(out);
    }
}

static size_t connections(const Out *out)
{
    size_t count = 0;
    for (guint i = 0; i < out->transports->len; i++)
        count += transport_connections(out->transports->pdata[i]);
    return count;
}

/* Transactions in progress come to their end, the rest goes back. */
static void leave(Out *out)
{
    g_autoptr(GError) error = NULL;
    out->stopping = true;
    out->stop_at = clock_monotonic() + config_duration(out->config, "master", "stop_timeout") * 8 / 10;
    for (guint i = 0; i < out->transports->len; i++)
        transport_stop(out->transports->pdata[i]);
    while (connections(out) > 0 && clock_monotonic() < out->stop_at) {
        if (out_busy(out) == 0)
            out->stop_at = MIN(out->stop_at, clock_monotonic() + FAREWELL);
        one_round(out);
    }
    if (connections(out) > 0 && out_busy(out) > 0)
        log_warn("stopping: what is under way over %zu connections is broken off", out_busy(out));
    saved_state_save(&out->saved, out->transports);
    for (guint i = 0; i < out->transports->len; i++)
        transport_drop(out->transports->pdata[i]);
    finish_all(out);

    GPtrArray *claimed[SOURCES]; /* last, and not looked at */
    collect(out, claimed);
    for (unsigned source = 0; source < SOURCES; source++) {
        for (guint i = 0; i < claimed[source]->len; i++)
            if (!inbox_release(out->inboxes[source], claimed[source]->pdata[i], 0, &error))
                die("put an entry back", error);
        g_ptr_array_unref(claimed[source]);
    }
    /* Batches that wait are forgotten: their recipients stand in the file. */
    for (GList *link; (link = g_queue_pop_head_link(&out->held)) != NULL;) {
        Delivery *delivery = link->data;
        reader_forget(&out->reader, delivery);
        for (guint i = 0; i < delivery->jobs->len; i++) {
            Job *job = delivery->jobs->pdata[i];
            Destination *destination;
            for (Batch *batch; job->scheduler && (batch = scheduler_take_of(job, &destination)) != NULL;)
                batch_free(batch);
            if (job->scheduler)
                scheduler_retire(job);
        }
        if (!finish_put_back(&out->finish, delivery, &error))
            die("put an entry back", error);
    }
    g_ptr_array_set_size(out->transports, 0);
    if (!marks_sync(&out->marks, &error) || !hop_settle(out->hop, &error))
        die("settle", error);
}

static bool start(void *data, const Process *process, GError **error)
{
    Out *out = data;
    out->base = event_base_new();
    child_set_delays(&out->delays);
    out->recalled = g_array_new(FALSE, FALSE, sizeof(Parked));
    out->asked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (unsigned source = 0; source < SOURCES; source++)
        out->kept_back[source] = g_array_new(FALSE, FALSE, sizeof(Claim));
    marks_init(&out->marks);
    claims_init(&out->claims);
    finish_init(&out->finish);
    bool asked;
    if (!out_set_up(out, process, &transport_owner, error) || !own_spool_check(out->spool, out->config, &asked, error))
        return false;
    out->share = limit_share_new(out->spool, out->config, !asked, error);
    if (!out->share)
        return false;
    keep_share(out);
    saved_state_init(&out->saved, config_string(out->config, "spool", "directory"), out->slice);
    saved_state_load(&out->saved, out->transports);
    out->remember_at = clock_monotonic() + SAVED_STATE_INTERVAL;
    open_control(out);
    return true;
}

static void run(void *data)
{
    beat(data);
    work(data);
    leave(data);
}

static void stop(void *data)
{
    Out *out = data;
    control_server_free(out->control);
    limit_share_free(out->share);
    saved_state_clear(&out->saved);
    g_array_unref(out->recalled);
    g_hash_table_unref(out->asked);
    for (unsigned source = 0; source < SOURCES; source++)
        g_array_unref(out->kept_back[source]);
    out_tear_down(out);
}

int main(int argc, char **argv)
{
    static const ProcessSpec spec = {.name = "out", .start = start, .work = run, .stop = stop};
    Out out = {.base = NULL};
    return process_main(&spec, &out, argc, argv);
}
