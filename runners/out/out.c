/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The runner out: delivers the entries of the queues out and retry. One event
 * loop drives all connections; after each round of events comes one turn of
 * bookkeeping (turn()): what was delivered is made safe, what is over leaves, new
 * entries are claimed, and only then do free connections get new work.
 */
#include "runners/out/out.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "runners/keys.h"
#include "runners/out/orders.h"
#include "runners/out/report.h"
#include "runners/out/transport.h"
#include "runners/sweep.h"

/* Entries claimed in one turn: sessions wait while they are read. */
#define CLAIM_MAX 64
/* With so many at hand, and so many for each that is under way, there is enough to choose from: then as many are
 * claimed as end, so that a backlog leaves at the same rate from its beginning to its end, and what was claimed is
 * still in the processor's caches when its turn comes; and more only when few have ended for a while, because what is
 * at hand is large or waits for slow servers. Of what waits for one relay that takes more than four thousand a second
 * no more than twice as many are kept: the rest, claimed while the disk stood still, would only fill memory. */
#define AT_HAND 96
#define AT_HAND_EACH 4
#define CLAIM_PAUSE (CLOCK_SECOND / 500)
/* Fewer are claimed sooner than a thread begins to. Of few at hand no more than that are claimed besides those once
 * more: what is sent first does not wait for a backlog. */
#define ASIDE_MIN 8
/* Of those claimed in one turn, mail of our own leaves one in so many to other mail, which leaves it as large a part of
 * the places. */
#define SHARE 5
/* The longest wait for further results, us. */
#define GATHER_MAX (CLOCK_SECOND / 500)
/* Beats are no more frequent than this. */
#define BEAT_MIN (CLOCK_SECOND / 10)
/* How long the farewells of connections may take when stopping. */
#define FAREWELL (2 * CLOCK_SECOND)

/* What is on the disk is no longer what we think: the next start recovers. */
G_NORETURN static void die(const char *doing, const GError *error)
{
    log_fatal(CHILD_EXIT_LATER, "%s: %s", doing, error->message);
}

/* --- the master --------------------------------------------------------- */

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

/* Makes a delivery of a claimed entry. The crash count covers what looks into the octets. */
static void adopt(Out *out, Entry *entry, unsigned source)
{
    g_autoptr(GError) error = NULL;
    Delivery *delivery = entry_begin_work(entry, &error) ? delivery_new(entry, source, &error) : NULL;
    entry_end_work(entry, NULL);
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

static void keep_last_reply(Delivery *delivery, const Batch *batch)
{
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        if (fate->verdict != SMTP_LATER)
            continue;
        g_free(delivery->last_reply);
        delivery->last_reply = g_strdup(fate->text);
    }
}

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
    g_autoptr(GError) error = NULL;
    out->progress++;
    if (!marks_batch(&out->marks, batch, &error))
        die("mark recipients", error);
    keep_last_reply(batch->delivery, batch);
    report_batch(batch, out->every_recipient);
    end_batch(out, batch);
}

/* What it holds goes back as it was, when what is out has come back. */
static void on_withdrawn(void *data, Batch *batch)
{
    Out *out = data;
    batch->delivery->withdrawn = true;
    reader_forget(&out->reader, batch->delivery);
    end_batch(out, batch);
}

static const TransportOwner transport_owner = {on_finished, on_withdrawn};

/* --- the turn ----------------------------------------------------------- */

/* The default transport is a relay, and no other one has anything to do with what is claimed. */
static bool alone(const Out *out)
{
    if (!transport_is_relay(out->standard))
        return false;
    for (guint i = 0; i < out->transports->len; i++)
        if (out->transports->pdata[i] != out->standard && transport_used(out->transports->pdata[i]))
            return false;
    return true;
}

static size_t busy(const Out *out)
{
    size_t count = 0;
    for (guint i = 0; i < out->transports->len; i++)
        count += transport_busy(out->transports->pdata[i]);
    return count;
}

static size_t at_hand_wanted(const Out *out)
{
    size_t wanted = 0;
    for (guint i = 0; i < out->transports->len; i++)
        wanted += AT_HAND_EACH * transport_in_flight(out->transports->pdata[i]);
    return MAX(wanted, AT_HAND);
}

/* More than need wait for the one relay. */
static bool spare_at_hand(const Out *out)
{
    return alone(out) && out->held.length > 2 * at_hand_wanted(out);
}

static bool enough_at_hand(const Out *out)
{
    return out->held.length >= at_hand_wanted(out);
}

/* How many entries may be claimed now. While the relay that takes nearly everything has not answered, one at a time,
 * and none while it is dead: what waits for a server that is away is best left where it is. */
static size_t claim_quota(const Out *out)
{
    if (out->stopping || out->held.length >= out->entries_max)
        return 0;
    bool one_relay = alone(out);
    size_t room = MAX(spare_at_hand(out) ? out->ended / 2 : out->ended, ASIDE_MIN);
    if (!enough_at_hand(out))
        room = out->held.length + ASIDE_MIN;
    room = MIN(room, MIN(out->entries_max - out->held.length, CLAIM_MAX));
    if (one_relay && transport_closed(out->standard))
        return 0;
    if (!one_relay || !transport_unproven(out->standard))
        return room;
    bool trying = transport_busy(out->standard) > 0 || transport_scheduler(out->standard)->waiting > 0;
    return trying ? 0 : 1;
}

/* Microseconds until it is time for that. */
static int64_t claim_pause(const Out *out)
{
    if (!enough_at_hand(out) || out->ended >= (spare_at_hand(out) ? 2 * ASIDE_MIN : ASIDE_MIN))
        return 0;
    int64_t left = out->claimed_at + CLAIM_PAUSE - clock_monotonic(); /* MAX would look at the clock twice */
    return MAX(left, 0);
}

/* The same for one source: however much there is of one kind of mail, places are kept for the other. */
static size_t source_quota(const Out *out, unsigned source)
{
    bool notice = source == SOURCE_NOTICE;
    size_t held = notice ? out->notices : out->held.length - out->notices;
    size_t most = out->entries_max - out->entries_max / (notice ? 2 : SHARE);
    return held < most ? MIN(claim_quota(out), most - held) : 0;
}

/* There is something else to do than to claim: something is under way, or can be sent. */
static bool engaged(const Out *out)
{
    size_t waiting = 0;
    for (guint i = 0; i < out->transports->len; i++)
        waiting += transport_scheduler(out->transports->pdata[i])->waiting;
    return waiting > 0 || marks_syncing(&out->marks) || busy(out) > 0;
}

static size_t pick(Out *out, unsigned source, size_t limit)
{
    return claims_pick(&out->claims, out->inboxes[source], source, limit);
}

/* Our own mail first, with most of what may be claimed. Then out and retry each get half, and what the other does not
 * need. They take turns. */
static void pick_all(Out *out)
{
    size_t quota = source_quota(out, SOURCE_NOTICE);
    size_t own = pick(out, SOURCE_NOTICE, quota - quota / SHARE);
    quota = source_quota(out, SOURCE_OUT);
    quota -= MIN(own, quota);
    unsigned one = out->first;
    unsigned other = 1 - one;
    quota -= pick(out, one, (quota + 1) / 2);
    quota -= pick(out, other, quota);
    pick(out, one, quota);
    out->first = other;
}

static void adopt_all(Out *out, GPtrArray *claimed[SOURCES])
{
    size_t longest = MAX(claimed[SOURCE_OUT]->len, claimed[SOURCE_RETRY]->len);
    for (guint i = 0; i < claimed[SOURCE_NOTICE]->len; i++)
        adopt(out, claimed[SOURCE_NOTICE]->pdata[i], SOURCE_NOTICE);
    for (guint i = 0; i < longest; i++)
        for (unsigned source = SOURCE_OUT; source <= SOURCE_RETRY; source++)
            if (i < claimed[source]->len)
                adopt(out, claimed[source]->pdata[i], source);
}

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

/* Transports in turn, another one first each time. */
static void feed(Out *out)
{
    for (guint i = 0; i < out->transports->len; i++)
        transport_feed(out->transports->pdata[(i + out->turns) % out->transports->len]);
    out->turns++;
}

static void collect(Out *out, GPtrArray *claimed[SOURCES])
{
    for (unsigned source = 0; source < SOURCES; source++)
        claimed[source] = g_ptr_array_new();
    claims_collect(&out->claims, out->inboxes, claimed);
}

static void adopt_claimed(Out *out)
{
    GPtrArray *claimed[SOURCES];
    collect(out, claimed);
    adopt_all(out, claimed);
    for (unsigned source = 0; source < SOURCES; source++)
        g_ptr_array_unref(claimed[source]);
}

/* Claims the next ones, those before being in hand. Nobody waits for a thread while there is nothing else to do. */
static void claim(Out *out)
{
    if (claims_ready(&out->claims))
        adopt_claimed(out);
    if (out->stopping || claims_count(&out->claims) > 0 || claim_pause(out) > 0)
        return;
    pick_all(out);
    if (claims_count(&out->claims) == 0)
        return;
    out->ended = 0;
    out->claimed_at = clock_monotonic();
    claims_begin(&out->claims, engaged(out) && claims_count(&out->claims) >= ASIDE_MIN);
    if (claims_ready(&out->claims))
        adopt_claimed(out);
}

static void turn(Out *out)
{
    g_autoptr(GError) error = NULL;
    bool moved = out->over.length > 0;
    finish_all(out);
    for (int i = 0; i < SOURCES; i++)
        if (!inbox_refresh(out->inboxes[i], &error))
            die("list the queue", error);
    marks_sync_begin(&out->marks);
    transport_set_withdraws(out->standard, alone(out));
    claim(out); /* meanwhile: it is felt by nobody yet */
    if (!marks_sync_end(&out->marks, &error))
        die("sync", error);
    reader_refill(&out->reader, delivery_ends, out);
    feed(out);
    if (!alone(out)) /* else everything waits for one */
        clog_look(&out->clog, out->transports, out->held.length);
    int64_t now = clock_monotonic();
    if (now >= out->beat_at || (moved && now >= out->beaten + BEAT_MIN))
        beat(out);
}

/* --- what is kept, and what the operator says --- */

static json_t *answer(void *data, const json_t *request, GError **error)
{
    Out *out = data;
    bool changed;
    json_t *reply = orders_answer(out, request, &changed, error);
    if (changed)
        memory_save(&out->memory, out->transports);
    return reply;
}

static void open_console(Out *out)
{
    static const ConsoleOwner owner = {answer};
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_strdup_printf("%s-%u.sock", out->child->runner, out->child->instance);
    g_autofree char *path = g_build_filename(config_string(out->config, "master", "runtime_directory"), name, NULL);
    out->console = console_new(out->base, path, &owner, out, &error);
    if (!out->console) /* mail goes on without it */
        log_warn("no orders about destinations can be taken: %s", error->message);
}

static void remember(Out *out)
{
    for (guint i = 0; i < out->transports->len; i++)
        transport_tidy(out->transports->pdata[i]);
    memory_keep(&out->memory, out->transports);
    out->remember_at = clock_monotonic() + MEMORY_INTERVAL;
}

/* --- the loop ----------------------------------------------------------- */

/* Nothing is held now: also what a lost parent left behind may be looked for. */
static void sweep(Out *out)
{
    out->sweep_at = clock_monotonic() + SWEEP_INTERVAL;
    for (int i = 0; i < SOURCES; i++)
        sweep_slice(inbox_queue(out->inboxes[i]), out->slice, config_duration(out->config, "spool", "tmp_lifetime"));
}

/* Microseconds until something must happen without any event. */
static int64_t next_wake(const Out *out)
{
    int64_t wait = out->beat_at - clock_monotonic();
    if (!g_queue_is_empty((GQueue *)&out->over))
        return 0;
    int64_t now = clock_now();
    for (guint i = 0; i < out->transports->len; i++) {
        int64_t wake = transport_wake(out->transports->pdata[i]);
        if (wake > 0)
            wait = MIN(wait, MAX(wake - now, 0));
    }
    int64_t more = reader_wait(&out->reader);
    if (more >= 0 && !out->stopping)
        wait = MIN(wait, more);
    int64_t pause = claim_pause(out);
    for (int i = 0; i < SOURCES; i++) {
        if (claims_count(&out->claims) > 0 || source_quota(out, (unsigned)i) == 0)
            continue;
        int64_t due = inbox_wait(out->inboxes[i], clock_now());
        if (due >= 0)
            wait = MIN(wait, MAX(due, pause));
    }
    if (out->stopping)
        wait = MIN(wait, out->stop_at - clock_monotonic());
    return MAX(wait, 0);
}

/* Results that come while the last sync would take are made safe with the ones at hand: one sync for all. Nothing waits
 * when nothing else is under way. */
static void gather(Out *out)
{
    int64_t until = clock_monotonic() + MIN(out->marks.took, GATHER_MAX);
    for (int64_t left; out->marks.dirty->len > 0 && busy(out) > 0 && (left = until - clock_monotonic()) > 0;) {
        struct timeval wait = {.tv_usec = left};
        event_add(out->timer, &wait);
        event_base_loop(out->base, EVLOOP_ONCE);
    }
}

/* While a queue has more that is due, nothing is gained by being woken for what comes into it (or is renamed there, by
 * ourselves): each turn looks. */
static void watch_queues(const Out *out)
{
    for (int i = 0; i < SOURCES; i++) {
        if (!out->watches[i])
            continue;
        if (inbox_wait(out->inboxes[i], clock_now()) == 0)
            event_del(out->watches[i]);
        else
            event_add(out->watches[i], NULL);
    }
}

static void one_round(Out *out)
{
    watch_queues(out);
    int64_t wait = next_wake(out);
    struct timeval until = {.tv_sec = wait / CLOCK_SECOND, .tv_usec = wait % CLOCK_SECOND};
    if (wait > 0)
        event_add(out->timer, &until);
    event_base_loop(out->base, wait > 0 ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK);
    gather(out);
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
        if (idle(out) && clock_monotonic() >= out->sweep_at)
            sweep(out);
        if (clock_monotonic() >= out->remember_at)
            remember(out);
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

/* Batches that wait are forgotten: their recipients stand in the file. */
static void drop_waiting(Out *out, Delivery *delivery)
{
    reader_forget(&out->reader, delivery);
    for (guint i = 0; i < delivery->jobs->len; i++) {
        Job *job = delivery->jobs->pdata[i];
        Destination *destination;
        Batch *batch;
        while (job->scheduler && (batch = scheduler_take_of(job, &destination, clock_now())) != NULL)
            batch_free(batch);
        if (job->scheduler)
            scheduler_retire(job);
    }
}

/* What was claimed last and not looked at. */
static void put_back_claimed(Out *out)
{
    GPtrArray *claimed[SOURCES];
    g_autoptr(GError) error = NULL;
    collect(out, claimed);
    for (unsigned source = 0; source < SOURCES; source++) {
        for (guint i = 0; i < claimed[source]->len; i++)
            if (!inbox_release(out->inboxes[source], claimed[source]->pdata[i], 0, &error))
                die("put an entry back", error);
        g_ptr_array_unref(claimed[source]);
    }
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
        if (busy(out) == 0)
            out->stop_at = MIN(out->stop_at, clock_monotonic() + FAREWELL);
        one_round(out);
    }
    if (connections(out) > 0 && busy(out) > 0)
        log_warn("stopping: what is under way over %zu connections is broken off", busy(out));
    memory_save(&out->memory, out->transports);
    for (guint i = 0; i < out->transports->len; i++)
        transport_drop(out->transports->pdata[i]);
    finish_all(out);
    put_back_claimed(out);
    GList *link;
    while ((link = g_queue_pop_head_link(&out->held)) != NULL) {
        drop_waiting(out, link->data);
        if (!finish_put_back(&out->finish, link->data, &error))
            die("put an entry back", error);
    }
    g_ptr_array_set_size(out->transports, 0);
    if (!marks_sync(&out->marks, &error) || !hop_settle(out->hop, &error))
        die("settle", error);
}

int main(int argc, char **argv)
{
    log_open("out", LOG_TARGET_STDERR);
    if (argc > 1) {
        g_printerr("usage: %s\nThis program is started by listrunner-master(8); see listrunner-out(8).\n", argv[0]);
        return CHILD_EXIT_USAGE;
    }
    Out out = {.base = event_base_new()};
    g_autoptr(GError) error = NULL;
    int code = CHILD_EXIT_OK;
    marks_init(&out.marks);
    claims_init(&out.claims);
    finish_init(&out.finish);
    if (out_set_up(&out, &transport_owner, &error)) {
        memory_init(&out.memory, config_string(out.config, "spool", "directory"), out.slice);
        memory_load(&out.memory, out.transports);
        out.remember_at = clock_monotonic() + MEMORY_INTERVAL;
        open_console(&out);
        child_ready();
        beat(&out);
        work(&out);
        leave(&out);
    } else {
        code = child_cannot_start(error);
    }
    console_free(out.console);
    memory_clear(&out.memory);
    out_tear_down(&out);
    return code;
}
