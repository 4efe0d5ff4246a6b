/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The runner out: delivers the entries of the queues out and retry. One event
 * loop drives all connections; after each round of events comes one turn of
 * bookkeeping (turn()): what was delivered is made safe, what is over leaves, new
 * entries are claimed, and only then do free connections get new work.
 */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/contract.h"
#include "base/delays.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "lists/hosts/limit_share.h"
#include "lists/hosts/own_spool.h"
#include "lists/keys.h"
#include "lists/site/canary.h"
#include "mail/auth/dkim_keys.h"
#include "runners/outgoing/claims.h"
#include "runners/outgoing/control_server.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/finish.h"
#include "runners/outgoing/reader.h"
#include "runners/outgoing/saved_state.h"
#include "runners/outgoing/transport.h"
#include "runners/process.h"
#include "runners/sweep.h"
#include "switchboard/claim.h"

/* The longest wait for further results, us. */
#define GATHER_MAX (CLOCK_SECOND / 500)
/* Beats are no more frequent than this. */
#define BEAT_MIN (CLOCK_SECOND / 10)
/* How long an operator's command has to take an entry that it asked for. */
#define LEAVE_TIME (5 * CLOCK_SECOND)
/* How long the farewells of connections may take when stopping. */
#define FAREWELL (2 * CLOCK_SECOND)
#define SHARE_INTERVAL CLOCK_SECOND
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
/* Of those claimed in one turn, mail of our own leaves one in so many to other mail, which leaves it as large a part of
 * the places. */
#define SHARE 5
/* The loop claims fewer entries than this itself, since that is done sooner than a thread begins. While few deliveries
 * are held, one turn claims at most this many more than are held, so that the first mail does not wait for a
 * backlog. */
#define ASIDE_MIN 8
/* Mail for one destination that takes up more than one place in so many is told of. */
#define CLOG_SHARE 5
/* All destinations are gone through, and there may be many. */
#define CLOG_INTERVAL (CLOCK_SECOND / 2)
#define OUT_QUEUE "out"
/* Files of entries at hand, connections, and all else; more are rare. */
#define FILES_EXPECTED 4096
#define WAIT_LEAST (3600 * CLOCK_SECOND) /* so often a destination that rests for longer is looked at */
#define WAIT_SLACK (60 * CLOCK_SECOND)

/* When the log warns of mail for one destination that takes up many of the places. */
typedef struct Clog {
    int64_t every_us;   /* 0: never */
    size_t entries_max; /* how many entries may be held */
    int64_t look_at;    /* monotonic: the next look */
} Clog;

typedef struct Out {
    struct event_base *base;
    const Child *child;
    const Config *config;
    Slice slice;
    Spool *spool;
    Inbox *inboxes[SOURCES];
    struct event *watches[SOURCES];
    struct event *wake, *master, *timer, *claimed;
    Hop *hop;
    MxResolver *resolver;
    ReplyTable *replies;
    TransportShared shared;
    GPtrArray *transports;  /* of Transport; the first one is served first in this turn */
    Transport *standard;    /* the default */
    Routes *routes;
    GPtrArray *keys;        /* of DkimKey: they sign copies that differ */
    Reader reader;
    Finish finish;
    GQueue held;        /* of Delivery, oldest first */
    GQueue over;        /* of Delivery: to be finished in the next turn */
    size_t entries_max; /* held at a time */
    Claims claims;
    GArray *recalled;   /* of Parked: to be claimed before they are due */
    size_t ended;       /* deliveries that ended since the last claims began */
    int64_t claimed_at; /* monotonic: when the last claims began */
    size_t notices;     /* deliveries in held that came from SOURCE_NOTICE */
    unsigned first;     /* the source that claims first in the next turn */
    unsigned turns;
    bool every_recipient;
    Clog clog;
    Delays delays; /* of the recipients since the start */
    SavedState saved;
    LimitShare *share;
    int64_t share_at;    /* monotonic: when the share is looked at again */
    int64_t remember_at; /* monotonic */
    ControlOwner orders;
    ControlServer *control;    /* NULL: it could not be made */
    bool stopping;
    int64_t stop_at;    /* monotonic */
    GHashTable *asked;   /* hash in digits -> int64_t *: until then (monotonic) a command may take the entry */
    GArray *kept_back[SOURCES]; /* of Claim: picked, and asked for */
    int64_t asked_until; /* monotonic: the last of those times */
    uint64_t progress;
    int64_t heartbeat_us, beat_at, beaten, sweep_at;
} Out;

/* End the process when the disk no longer holds what we think; the next start recovers. */
G_NORETURN static void die(const char *doing, const GError *error)
{
    log_fatal(CHILD_EXIT_LATER, "%s: %s", doing, error->message);
}

/* --- choosing -------------------------------------------------------------- */

static size_t connections_busy(const Out *out)
{
    size_t count = 0;
    for (guint i = 0; i < out->transports->len; i++)
        count += ((const Transport *)out->transports->pdata[i])->busy;
    return count;
}

static size_t at_hand_wanted(const Out *out)
{
    size_t wanted = 0;
    for (guint i = 0; i < out->transports->len; i++)
        wanted += AT_HAND_EACH * transport_in_flight(out->transports->pdata[i]);
    return MAX(wanted, AT_HAND);
}

/* How many entries may be claimed now. */
static size_t claim_quota(const Out *out)
{
    if (out->stopping || out->held.length >= out->entries_max)
        return 0;
    size_t wanted = at_hand_wanted(out);
    bool spare = out->shared.alone && out->held.length > 2 * wanted; /* more than need wait for the one relay */
    size_t room = MAX(spare ? out->ended / 2 : out->ended, ASIDE_MIN);
    if (out->held.length < wanted)
        room = out->held.length + ASIDE_MIN;
    return MIN(room, MIN(out->entries_max - out->held.length, CLAIM_MAX));
}

/* Microseconds until it is time for that. */
static int64_t claim_pause(const Out *out)
{
    size_t wanted = at_hand_wanted(out);
    bool spare = out->shared.alone && out->held.length > 2 * wanted;
    if (out->held.length < wanted || out->ended >= (spare ? 2 * ASIDE_MIN : ASIDE_MIN))
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

static void pick_all(Out *out)
{
    /* Entries for which there is room again come first, though they are due later. */
    guint taken = 0;
    for (size_t most = claim_quota(out) / 2; taken < out->recalled->len && taken < most; taken++) {
        const Parked *parked = &g_array_index(out->recalled, Parked, taken);
        Claim recalled = {.queue = inbox_queue(out->inboxes[parked->source]), .name.due = parked->due};
        memcpy(recalled.name.hash, parked->hash, sizeof parked->hash);
        g_array_append_val(out->claims.picked[parked->source], recalled); /* the entry may be gone */
    }
    g_array_remove_range(out->recalled, 0, taken);

    /* Our own mail has most of what may be claimed then. Of the rest out and retry each get half, and what the other
     * does not need. They take turns. */
    size_t quota = source_quota(out, SOURCE_NOTICE);
    size_t own = inbox_pick(out->inboxes[SOURCE_NOTICE], quota - quota / SHARE, out->claims.picked[SOURCE_NOTICE]);
    quota = source_quota(out, SOURCE_OUT);
    quota -= MIN(own, quota);
    unsigned one = out->first;
    unsigned other = 1 - one;
    quota -= inbox_pick(out->inboxes[one], (quota + 1) / 2, out->claims.picked[one]);
    quota -= inbox_pick(out->inboxes[other], quota, out->claims.picked[other]);
    inbox_pick(out->inboxes[one], quota, out->claims.picked[one]);
    out->first = other;
    if (g_hash_table_size(out->asked) == 0)
        return;

    /* The operator's commands get the entries that they asked for; those that none has taken in time are picked. */
    int64_t now = clock_monotonic();
    for (unsigned source = 0; source < SOURCES; source++) {
        GArray *picked = out->claims.picked[source], *kept = out->kept_back[source];
        g_array_append_vals(picked, kept->data, kept->len);
        g_array_set_size(kept, 0);
        for (guint i = picked->len; i-- > 0;) {
            Claim claim = g_array_index(picked, Claim, i);
            char hash[HASH_DIGITS + 1];
            name_hash_format(claim.name.hash, hash);
            const int64_t *until = g_hash_table_lookup(out->asked, hash);
            if (!until || now >= *until)
                continue;
            g_array_append_val(kept, claim);
            g_array_remove_index(picked, i);
        }
    }
    if (now >= out->asked_until)
        g_hash_table_remove_all(out->asked);
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
        g_autoptr(GError) fault = NULL;
        bool never = g_error_matches(error, FAIL, FAIL_NEVER);
        if (!never)
            log_error("%s queue=%s result=later (%s)", entry_trace(entry), queue_name(entry_queue(entry)),
                      error->message);
        if (never ? !finish_shunt(&out->finish, entry, source, error, &fault)
                  : !inbox_release(out->inboxes[source], entry, clock_now() + UNREADABLE_DELAY, &fault))
            die("set an entry aside", fault);
        return;
    }
    g_queue_push_tail_link(&out->held, &delivery->held);
    out->notices += source == SOURCE_NOTICE;
    const char *chosen = meta_string(entry_meta(entry), KEY_TRANSPORT, NULL);
    delivery->chosen = chosen ? transport_named(out->transports, chosen) : out->standard;
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
        const Backoff *backoff = batch->nexthop->transport->backoff;
        int64_t due = now + MIN(destination_fifth(age), backoff_delay(backoff, age, g_random_double()));
        if (destination_dead(destination))
            due = MAX(due, clock_of_steady(destination_return_time(destination, clock_steady(), g_random_double())));
        delivery_wait_for(delivery, destination, due, destination->refused_at == 0);
    }
    if (!marks_batch(&out->finish.marks, batch, &error))
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

/* --- clogs ----------------------------------------------------------------- */

static void tell_clogs(Clog *clog, const GPtrArray *transports, size_t held)
{
    int64_t now = clock_monotonic();
    if (clog->every_us == 0 || held <= clog->entries_max / CLOG_SHARE || now < clog->look_at)
        return;
    clog->look_at = now + MIN(CLOG_INTERVAL, clog->every_us);
    for (guint i = 0; i < transports->len; i++) {
        g_autoptr(GPtrArray) all = transport_destinations(transports->pdata[i]);
        for (guint j = 0; j < all->len; j++) {
            Destination *destination = all->pdata[j];
            size_t entries = destination->queue.peers ? (size_t)g_sequence_get_length(destination->queue.peers) : 0;
            bool told = destination->clog_told > 0 && now - destination->clog_told < clog->every_us;
            if (entries <= clog->entries_max / CLOG_SHARE || told)
                continue;
            destination->clog_told = now;
            log_warn("transport %s: mail for destination %s (%s, %u of %u transactions under way) takes up %zu of %zu "
                     "active entries, other mail may have to wait; such domains can have a transport of their own "
                     "(transport_table), a shorter connect_timeout, or a higher concurrency",
                     ((Transport *)transports->pdata[i])->name, destination->name,
                     destination_state(destination, clock_steady()), destination->busy, destination->window.size,
                     entries, clog->entries_max);
        }
    }
}

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
    if (out->stopping || claims_count(&out->claims) > 0 || claim_pause(out) > 0)
        return;
    pick_all(out);
    if (claims_count(&out->claims) == 0)
        return;
    out->ended = 0;
    out->claimed_at = clock_monotonic();
    size_t waiting = 0;
    for (guint i = 0; i < out->transports->len; i++)
        waiting += ((const Transport *)out->transports->pdata[i])->scheduler.waiting;
    bool engaged = waiting > 0 || out->finish.marks.syncing || connections_busy(out) > 0;
    claims_begin(&out->claims, engaged && claims_count(&out->claims) >= ASIDE_MIN);
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
    marks_sync_begin(&out->finish.marks);
    claim(out); /* meanwhile: it is felt by nobody yet */
    if (!marks_sync_end(&out->finish.marks, &error))
        die("sync", error);
    reader_refill(&out->reader, delivery_ends, out);
    for (guint i = 0; i < out->transports->len; i++) /* in turn, another one first each time */
        transport_feed(out->transports->pdata[(i + out->turns) % out->transports->len]);
    out->turns++;
    if (!out->shared.alone) /* else everything waits for one */
        tell_clogs(&out->clog, out->transports, out->held.length);
    int64_t now = clock_monotonic();
    if (now >= out->beat_at || (moved && now >= out->beaten + BEAT_MIN))
        beat(out);
}

/* --- what is kept, and what the operator says --- */

/* The order "leave" (control_server.h). */
static json_t *leave_entries(void *data, const json_t *entries)
{
    Out *out = data;
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
        count++;
        /* No more of it is sent; it leaves when what is under way has come back, at once when nothing is. It is held
         * meanwhile, so that it ends once. */
        delivery->withdrawn = delivery->asked = true;
        delivery->batches++;
        reader_forget(&out->reader, delivery);
        for (guint i = 0; i < delivery->jobs->len; i++) {
            Job *job = delivery->jobs->pdata[i];
            Destination *destination;
            for (Batch *batch; job->scheduler && (batch = scheduler_take_of(job, &destination)) != NULL;) {
                batch->nexthop->batches--;
                end_batch(out, batch);
            }
        }
        delivery->batches--;
        if (delivery_over(delivery))
            delivery_ends(out, delivery);
    }
    return json_pack("{s:b,s:i,s:I,s:[]}", "ok", 1, "instance", (int)out->slice.index, "total", (json_int_t)count,
                     "destinations");
}

static void save_orders(void *data)
{
    Out *out = data;
    saved_state_write(&out->saved, out->transports, true);
}

static void open_control(Out *out)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_strdup_printf("%s-%u.sock", out->child->runner, out->child->instance);
    g_autofree char *path = g_build_filename(config_string(out->config, "master", "runtime_directory"), name, NULL);
    out->control = control_server_new(out->base, path, &out->orders, out, &error);
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
    int64_t pause = claim_pause(out);
    if (g_hash_table_size(out->asked) > 0 && claims_count(&out->claims) == 0 && !out->stopping)
        wait = MIN(wait, MAX(out->asked_until - clock_monotonic(), pause));
    if (out->recalled->len > 0 && claims_count(&out->claims) == 0 && claim_quota(out) > 1)
        wait = MIN(wait, pause);
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
    int64_t gather_until = clock_monotonic() + MIN(out->finish.marks.took, GATHER_MAX);
    for (int64_t left; out->finish.marks.dirty->len > 0 && connections_busy(out) > 0 &&
                       (left = gather_until - clock_monotonic()) > 0;) {
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

static size_t connections(const Out *out)
{
    size_t count = 0;
    for (guint i = 0; i < out->transports->len; i++)
        count += ((const Transport *)out->transports->pdata[i])->sessions->len;
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
        if (connections_busy(out) == 0)
            out->stop_at = MIN(out->stop_at, clock_monotonic() + FAREWELL);
        one_round(out);
    }
    if (connections(out) > 0 && connections_busy(out) > 0)
        log_warn("stopping: what is under way over %zu connections is broken off", connections_busy(out));
    saved_state_write(&out->saved, out->transports, true);
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
    if (!marks_sync(&out->finish.marks, &error) || !hop_settle(out->hop, &error))
        die("settle", error);
}

/* --- setting up ------------------------------------------------------------ */

static void on_readable(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)data; /* the turn looks */
}

static void on_wake(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)data;
    child_reopen();
}

static void on_master(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)data;
    child_stop();
}

static void on_claimed(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Out *out = data;
    eventfd_t times;
    eventfd_read(out->claims.wake, &times);
}

static struct event *watch(Out *out, int fd, event_callback_fn callback)
{
    if (fd < 0)
        return NULL;
    struct event *event = event_new(out->base, fd, EV_READ | EV_PERSIST, callback, out);
    event_add(event, NULL);
    return event;
}

static void read_settings(Out *out)
{
    const Config *config = out->config;
    /* An entry that is held keeps its file open. Half of the descriptors are left for connections and all else: without
     * one, the runner could not even list its queue. */
    size_t wanted = (size_t)config_integer(config, "out", "message_active_limit");
    out->entries_max = fs_files_allowed(wanted, 2);
    if (out->entries_max < wanted)
        log_info("at most %zu entries are held at a time, not %zu: the system allows too few open files",
                 out->entries_max, wanted);
    out->clog = (Clog){config_duration(config, "out", "clog_warn_time"), out->entries_max, 0};
    out->keys = dkim_keys_read(config);
    out->heartbeat_us = config_duration(config, "master", "heartbeat_interval");
    out->every_recipient = config_bool(config, "out", "log_recipients");
    out->finish.warning = (Warning){
        .host = config_string(config, "site", "hostname"),
        .after_us = config_duration(config, "out", "delay_warning_time"),
        .lifetime_us = config_duration(config, "out", "maximal_queue_lifetime"),
    };
    out->finish.backoff = (Backoff){
        .min_us = config_duration(config, "out", "minimal_backoff_time"),
        .max_us = config_duration(config, "out", "maximal_backoff_time"),
        .lifetime_us = config_duration(config, "out", "maximal_queue_lifetime"),
        .jitter = (unsigned)config_integer(config, "out", "backoff_jitter"),
    };
    out->finish.canary_us = canary_lifetime(config);
    Backoff *backoff = &out->finish.backoff;
    backoff->steps = out->finish.steps = transport_read_schedule(config, "out", &backoff->count);
    reader_init(&out->reader, config);
}

/* Where type = mx asks, and who we are: mail that DNS sends back to us would never end. */
static MxResolver *open_resolver(Out *out, GError **error)
{
    const Config *config = out->config;
    const char *protocols = config_string(config, "out", "inet_protocols");
    const char *hostname = config_string(config, "site", "hostname");
    g_autofree char *servers = config_list_joined(config, "dns", "servers");
    g_autoptr(GPtrArray) own = g_ptr_array_new();
    g_ptr_array_add(own, (char *)hostname);
    for (const char *const *name = config_list(config, "out", "own_names"); name && *name; name++)
        g_ptr_array_add(own, (char *)*name);
    g_ptr_array_add(own, NULL);
    unsigned families = strcmp(protocols, "ipv4") == 0 ? MX_IPV4 : strcmp(protocols, "ipv6") == 0 ? MX_IPV6 : 0;
    MxSettings settings = {.servers = servers, .own = (const char *const *)own->pdata, .families = families,
                           .private_addresses = config_bool(config, "out", "mx_private_addresses")};
    MxResolver *resolver = mx_resolver_new(out->base, &settings, error);
    if (!resolver)
        g_prefix_error(error, "[dns] servers: ");
    return resolver;
}

static bool open_transports(Out *out, GError **error)
{
    const char *const *names = config_family(out->config, "transport");
    bool varied = false; /* do they have back-offs of their own? */
    out->transports = g_ptr_array_new_with_free_func((GDestroyNotify)transport_free);
    out->replies = reply_table_new(out->config);
    out->resolver = open_resolver(out, error);
    if (!out->resolver)
        return false;
    out->shared = (TransportShared){out->base, out->config, out->replies, out->resolver, out->slice.count,
                                    &out->finish.backoff, false, &transport_owner, out};
    for (; *names; names++) {
        Transport *transport = transport_new(&out->shared, *names, error);
        if (!transport)
            return false;
        g_ptr_array_add(out->transports, transport);
        varied |= transport->backoff != &out->finish.backoff;
    }
    /* An entry that is due later than by the longest back-off was put off while the clock was ahead. */
    int64_t longest = MAX(backoff_longest(&out->finish.backoff), WAIT_LEAST);
    for (guint i = 0; i < out->transports->len; i++)
        longest = MAX(longest, backoff_longest(((const Transport *)out->transports->pdata[i])->backoff));
    out->finish.longest_us = longest;
    for (int i = 0; i < SOURCES; i++)
        inbox_bound_wait(out->inboxes[i], longest + WAIT_SLACK);
    out->standard = transport_named(out->transports, config_string(out->config, "out", "default_transport"));
    out->routes = routes_new(out->config, out->transports);
    out->reader.routes = out->routes;
    out->finish.laws = (RetryLaws){out->routes, &out->finish.backoff, varied};
    out->shared.alone = out->transports->len == 1 && out->standard->relay != NULL;
    out->orders = (ControlOwner){out->transports, out->standard, out->slice.index, leave_entries, save_orders};
    return true;
}

static bool open_spool(Out *out, GError **error)
{
    g_autofree char *section = g_strdup_printf("runner.%s", out->child->runner);
    const char *queue = config_string(out->config, section, "queue");
    const char *queues[SOURCES] = {queue ? queue : OUT_QUEUE, RETRY_QUEUE, NOTICE_QUEUE};
    Wakeup wakeup = wakeup_configured(out->config);
    out->spool = spool_open(config_string(out->config, "spool", "directory"), error);
    for (int i = 0; out->spool && i < SOURCES; i++) {
        wakeup.put_off = i == SOURCE_RETRY;
        out->inboxes[i] = inbox_open(out->spool, queues[i], out->slice, wakeup, error);
        if (!out->inboxes[i])
            return false;
        out->finish.inboxes[i] = out->inboxes[i];
    }
    if (!out->spool)
        return false;
    out->hop = hop_new(out->spool);
    out->finish.spool = out->spool;
    out->finish.slice = out->slice;
    out->finish.hop = out->hop;
    return true;
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
    claims_init(&out->claims);
    finish_init(&out->finish);
    out->child = process->child;
    out->config = process->config;
    out->slice = (Slice){out->child->instance, out->child->instances};
    fs_expect_files(FILES_EXPECTED);
    if (!open_spool(out, error))
        return false;
    read_settings(out);
    out->timer = evtimer_new(out->base, on_readable, out);
    out->wake = watch(out, out->child->wake_fd, on_wake);
    out->master = watch(out, out->child->status_fd, on_master);
    out->claimed = watch(out, out->claims.wake, on_claimed);
    for (int i = 0; i < SOURCES; i++)
        out->watches[i] = watch(out, inbox_fd(out->inboxes[i]), on_readable);
    bool asked;
    if (!open_transports(out, error) || !own_spool_check(out->spool, out->config, &asked, error))
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
    Out *out = data;
    beat(out);
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
            saved_state_write(&out->saved, out->transports, false);
            out->remember_at = clock_monotonic() + SAVED_STATE_INTERVAL;
        }
        if (limit_share_changes(out->share) && clock_monotonic() >= out->share_at)
            keep_share(out);
        one_round(out);
    }
    leave(out);
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
    g_clear_pointer(&out->transports, g_ptr_array_unref);
    g_clear_pointer(&out->resolver, mx_resolver_free);
    g_clear_pointer(&out->replies, reply_table_free);
    g_clear_pointer(&out->routes, routes_free);
    g_clear_pointer(&out->reader.scratch, g_array_unref);
    for (int i = 0; i < SOURCES; i++)
        g_clear_pointer(&out->watches[i], event_free);
    g_clear_pointer(&out->wake, event_free);
    g_clear_pointer(&out->claimed, event_free);
    g_clear_pointer(&out->master, event_free);
    g_clear_pointer(&out->timer, event_free);
    event_base_loop(out->base, EVLOOP_NONBLOCK); /* connections are freed from the loop */
    event_base_free(out->base);
    claims_clear(&out->claims);
    g_clear_pointer(&out->hop, hop_free);
    for (int i = 0; i < SOURCES; i++)
        g_clear_pointer(&out->inboxes[i], inbox_free);
    g_clear_pointer(&out->spool, spool_free);
    finish_clear(&out->finish);
    g_clear_pointer(&out->keys, g_ptr_array_unref);
}

int main(int argc, char **argv)
{
    static const ProcessSpec spec = {.name = "out", .start = start, .work = run, .stop = stop};
    Out out = {.base = NULL};
    return process_main(&spec, &out, argc, argv);
}
