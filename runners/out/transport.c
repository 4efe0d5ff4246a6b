/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/transport.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "runners/out/backoff.h"
#include "runners/out/transport_internal.h"

/* How long an address that was looked up is used without asking again. */
#define ADDRESS_LIFETIME (60 * CLOCK_SECOND)
/* How often a batch that found no connection is tried again at once, while others work. */
#define TRIES_MAX 5

Destination *transport_destination(Transport *transport, const char *name)
{
    Destination *destination = g_hash_table_lookup(transport->destinations, name);
    if (destination)
        return destination;
    destination = destination_new(name, &transport->limits, clock_now());
    destination->transport = transport;
    g_hash_table_insert(transport->destinations, destination->name, destination);
    return destination;
}

/* Its batches go there from now on. */
static void join(Nexthop *nexthop, Destination *destination)
{
    if (nexthop->destination)
        nexthop->destination->nexthops--;
    nexthop->destination = destination;
    destination->nexthops++;
}

Transport *transport_new(const TransportShared *shared, const char *name, GError **error)
{
    Transport *transport = g_new0(Transport, 1);
    transport->shared = shared;
    transport->name = g_strdup(name);
    transport->nexthops = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)nexthop_free);
    transport->destinations = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                                    (GDestroyNotify)destination_free);
    transport->sessions = g_ptr_array_new_with_free_func((GDestroyNotify)session_free);
    g_queue_init(&transport->idle);
    bool good = transport_read_settings(transport, error);
    scheduler_init(&transport->scheduler, &transport->scheduling);
    if (!good) {
        transport_free(transport);
        return NULL;
    }
    if (!transport->mx) {
        transport->relay = nexthop_new(transport, transport->host);
        join(transport->relay, transport_destination(transport, transport->name));
        g_hash_table_insert(transport->nexthops, transport->relay->name, transport->relay);
    }
    return transport;
}

void transport_free(Transport *transport)
{
    if (!transport)
        return;
    g_ptr_array_unref(transport->sessions);
    g_hash_table_unref(transport->nexthops);
    scheduler_clear(&transport->scheduler);
    g_hash_table_unref(transport->destinations);
    transport_clear_security(transport);
    g_free(transport->steps);
    g_free(transport->name);
    g_free(transport);
}

const char *transport_name(const Transport *transport)
{
    return transport->name;
}

Scheduler *transport_scheduler(Transport *transport)
{
    return &transport->scheduler;
}

size_t transport_per_transaction(const Transport *transport)
{
    return transport->per_transaction;
}

const Backoff *transport_backoff(const Transport *transport)
{
    return transport->backoff;
}

bool transport_is_relay(const Transport *transport)
{
    return transport->relay != NULL;
}

bool transport_used(const Transport *transport)
{
    return transport->scheduler.waiting > 0 || transport->sessions->len > 0;
}

bool transport_unproven(const Transport *transport)
{
    if (!transport->relay)
        return false;
    const Destination *destination = transport->relay->destination;
    return destination->deaths > 0 || (destination->counts.connections == 0);
}

bool transport_closed(const Transport *transport)
{
    const Destination *destination = transport->relay ? transport->relay->destination : NULL;
    return destination && (destination_dead(destination) || destination->suspended);
}

void transport_set_withdraws(Transport *transport, bool withdraws)
{
    transport->withdraws = withdraws;
}

size_t transport_in_flight(const Transport *transport)
{
    size_t count = 0;
    for (guint i = 0; i < transport->sessions->len; i++)
        count += session_in_flight(transport->sessions->pdata[i]);
    return count;
}

size_t transport_busy(const Transport *transport)
{
    return transport->busy;
}

size_t transport_connections(const Transport *transport)
{
    return transport->sessions->len;
}

/* --- giving batches back ------------------------------------------------ */

static void give_back(Transport *transport, Batch *batch)
{
    batch->nexthop->batches--;
    transport->shared->owner->finished(transport->shared->data, batch);
}

/* Without having been tried, all recipients get this fate. */
static void put_off(Transport *transport, Batch *batch, const SmtpResult *result)
{
    batch_begin(batch);
    batch_set_rest(batch, result);
    batch->begun = batch->finished = clock_monotonic();
    give_back(transport, batch);
}

static void put_off_dead(Transport *transport, Batch *batch)
{
    const Destination *destination = batch->nexthop->destination;
    const char *reason = destination->reason ? destination->reason : "it does not answer";
    g_autofree char *text = g_strconcat("delivery temporarily suspended: ", reason, NULL);
    put_off(transport, batch, &(SmtpResult){.verdict = SMTP_LATER,
                                            .status = destination->status ? destination->status : "4.4.1",
                                            .text = text, .reply = reason, .connection = true});
}

static void put_off_refused(Transport *transport, Batch *batch)
{
    const Nexthop *nexthop = batch->nexthop;
    g_autofree char *reply = nexthop->code ? g_strdup_printf("%u %s %s", nexthop->code, nexthop->status, nexthop->text)
                                           : g_strdup(nexthop->text);
    put_off(transport, batch, &(SmtpResult){.verdict = nexthop->never ? SMTP_NEVER : SMTP_LATER,
                                            .code = nexthop->code, .status = nexthop->status, .text = nexthop->text,
                                            .reply = reply});
}

static void withdraw(Transport *transport, Batch *batch)
{
    batch->nexthop->batches--;
    transport->shared->owner->withdrawn(transport->shared->data, batch);
}

/* Everything that waits for a destination that died. */
static void clear_dead(Transport *transport, Destination *destination)
{
    GQueue waiting = G_QUEUE_INIT;
    scheduler_take(&transport->scheduler, destination, NULL, &waiting, clock_now());
    for (GList *link; (link = g_queue_pop_head_link(&waiting)) != NULL;) {
        if (transport->withdraws)
            withdraw(transport, link->data);
        else
            put_off_dead(transport, link->data);
    }
}

static void say_dead(const Transport *transport, const Destination *destination)
{
    log_warn("transport %s: destination %s is dead for %d s: %s", transport->name, destination->name,
             (int)((destination->dead_until - clock_now()) / CLOCK_SECOND), destination->reason);
}

bool transport_refuses(const Nexthop *nexthop)
{
    return nexthop_refused(nexthop, clock_monotonic()) || destination_dead(nexthop->destination);
}

void transport_accept(Transport *transport, Job *job, Batch *batch, bool new)
{
    Nexthop *nexthop = batch->nexthop;
    nexthop->batches++;
    nexthop->last_used = clock_monotonic();
    if (nexthop_refused(nexthop, nexthop->last_used))
        put_off_refused(transport, batch);
    else if (destination_dead(nexthop->destination) && transport->withdraws)
        withdraw(transport, batch);
    else if (destination_dead(nexthop->destination))
        put_off_dead(transport, batch);
    else
        scheduler_add_batch(job, nexthop->destination, batch, new, clock_now());
}

/* --- what became of batches --------------------------------------------- */

static SiteNews judge_fate(const Transport *transport, Batch *batch, const Fate *fate)
{
    if (fate->connection && fate->code == 0)
        return SITE_FAILED;
    switch (reply_table_look(transport->shared->replies, fate->reply)) {
    case REPLY_SITE:
        return SITE_FAILED;
    case REPLY_GROUP:
        return SITE_THROTTLED;
    case REPLY_SESSION:
        batch->unstarted |= batch->conn_use > 1 && batch->fates->len == 1;
        return batch->conn_use > 1 ? SITE_UNKNOWN : SITE_GOOD;
    default:
        return SITE_GOOD;
    }
}

/* The worst that any of the fates says of the destination. */
static SiteNews judge(const Transport *transport, Batch *batch, const Fate **worst)
{
    SiteNews news = SITE_GOOD;
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        SiteNews one = fate->verdict == SMTP_LATER ? judge_fate(transport, batch, fate) : SITE_GOOD;
        if (one > news || !*worst) {
            *worst = fate;
            news = MAX(one, news);
        }
    }
    return news;
}

static void count(Destination *destination, const Batch *batch)
{
    DestinationCounts *counts = &destination->counts;
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        uint64_t *sum = fate->verdict == SMTP_SENT    ? &counts->sent
                        : fate->verdict == SMTP_LATER ? &counts->deferred
                                                      : &counts->bounced;
        *sum += fate->count;
        if (fate->verdict != SMTP_SENT) {
            g_free(destination->last_reply);
            destination->last_reply = g_strdup(fate->text);
        }
    }
    destination_observe(destination, (double)(batch->finished - batch->begun) / CLOCK_SECOND);
}

static void flight_over(Transport *transport, Destination *destination, const Flight *flight)
{
    destination_end(destination);
    transport->busy--;
    if (flight->sent > 1)
        flights_end(&destination->flights, !flight->broken, clock_now());
}

/* Tells the destination, which may die of it. */
static void tell(Transport *transport, Destination *destination, SiteNews news, const Batch *batch,
                 const Flight *flight)
{
    bool was_down = destination->deaths > 0;
    bool died = destination_tell(destination, news, batch->count, clock_now(), g_random_double());
    if (flight->back == flight->sent)
        flight_over(transport, destination, flight);
    if (was_down && destination->deaths == 0)
        log_info("transport %s: destination %s answers again", transport->name, destination->name);
    if (died) {
        say_dead(transport, destination);
        clear_dead(transport, destination);
    }
}

/* It was not tried: it goes again, or back as it was. */
static void again(Transport *transport, Destination *destination, Batch *batch)
{
    batch->nexthop->batches--;
    if (transport->stopping || (destination_dead(destination) && transport->withdraws)) {
        transport->shared->owner->withdrawn(transport->shared->data, batch);
        return;
    }
    Job *job = batch->job;
    if (!job->scheduler)
        scheduler_add_job(&transport->scheduler, job, batch->delivery, batch->delivery->claimed);
    transport_accept(transport, job, batch, false);
}

static SiteNews news_of(const Transport *transport, Destination *destination, Batch *batch, Flight *flight)
{
    const Fate *worst = NULL;
    SiteNews news = judge(transport, batch, &worst);
    if (news == SITE_GOOD)
        flights_observe(&destination->flights, batch->finished - batch->begun, clock_now());
    if (news != SITE_FAILED && news != SITE_THROTTLED)
        return news;
    if (flight->trouble)
        return SITE_UNKNOWN;
    flight->trouble = true;
    destination_set_reason(destination, worst->status, worst->text);
    return news;
}

bool transport_batch_done(Transport *transport, Destination *destination, Batch *batch, Flight *flight)
{
    flight->back++;
    flight->broken |= batch->behind;
    bool untried = batch->unstarted;
    SiteNews news = untried || batch->behind ? SITE_UNKNOWN : news_of(transport, destination, batch, flight);
    if (!untried && !batch->unstarted)
        count(destination, batch);
    tell(transport, destination, news, batch, flight);
    bool goes_again = batch->unstarted;
    if (goes_again)
        again(transport, destination, batch);
    else
        give_back(transport, batch);
    scheduler_look(&transport->scheduler, destination, clock_now());
    return goes_again;
}

void transport_no_connection(Transport *transport, Destination *destination, Batch *batch, const SmtpResult *why)
{
    destination->counts.refused_connections++;
    bool others = destination->sessions > 0; /* connected or about to be */
    bool full = destination->established > 0;
    bool was_dead = destination_dead(destination);
    destination_set_reason(destination, why->status, why->text);
    tell(transport, destination, SITE_FAILED, batch, &(Flight){.sent = 1, .back = 1});
    if (others) /* it is at its limit, not away */
        destination->full_until = clock_now() + backoff_reconnect(++destination->refusals);
    bool dead = destination_dead(destination);
    if ((!dead && (full || (others && batch->tries++ < TRIES_MAX))) || (was_dead && transport->withdraws)) {
        again(transport, destination, batch);
    } else {
        batch_set_rest(batch, why);
        batch->begun = batch->finished = clock_monotonic();
        destination->counts.deferred += batch->count;
        give_back(transport, batch);
    }
    scheduler_look(&transport->scheduler, destination, clock_now());
}

/* --- next hops ---------------------------------------------------------- */

static void move_waiting(Transport *transport, Nexthop *nexthop, Destination *from)
{
    GQueue waiting = G_QUEUE_INIT;
    scheduler_take(&transport->scheduler, from, nexthop, &waiting, clock_now());
    for (GList *link; (link = g_queue_pop_head_link(&waiting)) != NULL;) {
        Batch *batch = link->data;
        nexthop->batches--;
        batch->job->read--;
        transport_accept(transport, batch->job, batch, true);
    }
}

/* Where a next hop waits until its hosts are known: at a destination of its name, unless that is the one of domains
 * whose mail host has this name. */
static Destination *waiting_place(Transport *transport, const char *name)
{
    Destination *destination = transport_destination(transport, name);
    if (destination->nexthops == 0)
        return destination;
    g_autofree char *another = g_strconcat(name, "?", NULL);
    return transport_destination(transport, another);
}

/* The hosts of found have this name: who waits there as a domain of that name, with hosts yet unknown, waits
 * elsewhere. */
static void make_way(Transport *transport, const char *name, const Nexthop *found)
{
    Nexthop *nexthop = g_hash_table_lookup(transport->nexthops, name);
    if (!nexthop || nexthop == found || nexthop->hosts->len > 0 || strcmp(nexthop->destination->name, name) != 0)
        return;
    Destination *from = nexthop->destination;
    Destination *to = waiting_place(transport, name);
    to->unresolved = true;
    join(nexthop, to);
    move_waiting(transport, nexthop, from);
}

/* What waits for the next hop waits for another destination from now on. */
static void move_batches(Transport *transport, Nexthop *nexthop, Destination *to)
{
    Destination *from = nexthop->destination;
    join(nexthop, to);
    destination_inherit(to, from, clock_now());
    move_waiting(transport, nexthop, from);
    /* It stood for one domain until its hosts were known. */
    if (from->nexthops == 0 && from->busy == 0 && from->sessions == 0 && from->waiting == 0) {
        scheduler_look(&transport->scheduler, from, clock_now());
        if (!from->ready && !from->asleep)
            g_hash_table_remove(transport->destinations, from->name);
    }
}

static void refuse_waiting(Transport *transport, Nexthop *nexthop)
{
    GQueue waiting = G_QUEUE_INIT;
    scheduler_take(&transport->scheduler, nexthop->destination, nexthop, &waiting, clock_now());
    for (GList *link; (link = g_queue_pop_head_link(&waiting)) != NULL;)
        put_off_refused(transport, link->data);
}

static void on_mx(const MxAnswer *answer, void *data)
{
    Nexthop *nexthop = data;
    Transport *transport = nexthop->transport;
    nexthop->lookup = NULL;
    int64_t now = clock_monotonic();
    if (answer->outcome == MX_FOUND) {
        nexthop_take_mx(nexthop, answer);
        g_autofree char *key = g_strdup(transport->group_by_mx ? answer->key : nexthop->name);
        make_way(transport, key, nexthop);
        Destination *destination = transport_destination(transport, key);
        destination->unresolved = false;
        if (destination != nexthop->destination)
            move_batches(transport, nexthop, destination);
        scheduler_look(&transport->scheduler, destination, clock_now());
        return;
    }
    if (answer->outcome == MX_LATER && nexthop->hosts->len > 0) {
        nexthop->expires = now + ADDRESS_LIFETIME;
        log_warn("transport %s: %s: %s; what was known before is used", transport->name, nexthop->name, answer->text);
        return;
    }
    int64_t until = answer->outcome == MX_NEVER ? answer->expires : now + transport->limits.dead_min;
    nexthop_refuse(nexthop, answer, MAX(until, now + CLOCK_SECOND));
    log_info("transport %s: %s: %s", transport->name, nexthop->name, answer->text);
    refuse_waiting(transport, nexthop);
}

/* A relay whose name cannot be found is as good as dead. */
static void relay_lost(Transport *transport, const char *reason)
{
    Destination *destination = transport->relay->destination;
    destination_set_reason(destination, "4.4.3", reason);
    destination_kill(destination, clock_now(), g_random_double());
    say_dead(transport, destination);
    clear_dead(transport, destination);
    scheduler_look(&transport->scheduler, destination, clock_now());
}

static void on_resolved(struct addrinfo *addresses, const GError *error, void *data)
{
    Nexthop *nexthop = data;
    Transport *transport = nexthop->transport;
    int64_t now = clock_monotonic();
    nexthop->resolve = NULL;
    nexthop->destination->unresolved = false;
    if (addresses) {
        nexthop_take_addresses(nexthop, addresses, transport->host, now + ADDRESS_LIFETIME);
        freeaddrinfo(addresses);
        scheduler_look(&transport->scheduler, nexthop->destination, clock_now());
    } else if (nexthop->hosts->len > 0) {
        log_warn("transport %s: %s; the address known before is used", transport->name, error->message);
        nexthop->expires = now + ADDRESS_LIFETIME;
    } else {
        relay_lost(transport, error->message);
    }
}

/* Asks for its hosts, unless they are known or asked for. */
static void know_hosts(Transport *transport, Nexthop *nexthop)
{
    int64_t now = clock_monotonic();
    if (nexthop->lookup || nexthop->resolve || (nexthop->hosts->len > 0 && now < nexthop->expires) ||
        nexthop_refused(nexthop, now))
        return;
    if (transport->path) {
        nexthop_take_path(nexthop, transport->path);
        return;
    }
    if (nexthop->hosts->len == 0)
        nexthop->destination->unresolved = true;
    if (transport->mx)
        nexthop->lookup = mx_lookup(transport->shared->resolver, nexthop->name, transport->port_number, on_mx, nexthop);
    else
        nexthop->resolve = resolve_start(transport->shared->base, transport->host, transport->port, on_resolved,
                                         nexthop);
}

Nexthop *transport_nexthop(Transport *transport, const char *domain, size_t length)
{
    if (transport->relay) {
        know_hosts(transport, transport->relay);
        return transport->relay;
    }
    char name[256];
    size_t used = MIN(length, sizeof(name) - 1);
    for (size_t i = 0; i < used; i++)
        name[i] = g_ascii_tolower(domain[i]);
    name[used] = '\0';
    Nexthop *nexthop = g_hash_table_lookup(transport->nexthops, name);
    if (!nexthop) {
        nexthop = nexthop_new(transport, name);
        join(nexthop, waiting_place(transport, name));
        g_hash_table_insert(transport->nexthops, nexthop->name, nexthop);
    }
    know_hosts(transport, nexthop);
    return nexthop;
}

/* --- feeding ------------------------------------------------------------ */

/* Until the transport's own rate allows one more, us. */
static int64_t rate_wait(Transport *transport, int64_t now)
{
    return bucket_wait(&transport->bucket, transport->rate, transport->burst, now);
}

/* Whose turn it is; but rather than that a connection is closed to make one to there, one that is open goes on. */
static Destination *choose(Transport *transport)
{
    Destination *front = scheduler_front(&transport->scheduler);
    bool scarce = front && transport->sessions->len >= transport->sessions_max && g_queue_is_empty(&front->idle);
    Destination *kept = scarce ? session_goes_on(transport, front) : NULL;
    return kept ? kept : front;
}

bool transport_feed(Transport *transport)
{
    int64_t now = clock_now();
    bool any = false;
    if (transport->stopping)
        return false;
    scheduler_wake(&transport->scheduler, now);
    while (transport->busy < transport->sessions_max && rate_wait(transport, now) == 0) {
        Destination *chosen = choose(transport), *destination;
        if (!chosen)
            break;
        Batch *batch = scheduler_next(&transport->scheduler, chosen, &destination, now);
        bucket_take(&transport->bucket, (double)batch->count);
        session_send(transport, destination, batch);
        scheduler_look(&transport->scheduler, destination, now); /* it may have no idle session left */
        any = true;
    }
    return any;
}

int64_t transport_wake(Transport *transport)
{
    int64_t now = clock_now();
    if (transport->stopping)
        return 0;
    int64_t wake = scheduler_wake(&transport->scheduler, now);
    int64_t wait = rate_wait(transport, now);
    if (wait == 0 || g_sequence_is_empty(transport->scheduler.ready) || transport->busy >= transport->sessions_max)
        return wake;
    return wake > 0 ? MIN(wake, now + wait) : now + wait;
}

void transport_stop(Transport *transport)
{
    transport->stopping = true;
    for (guint i = 0; i < transport->sessions->len; i++)
        session_quit(transport->sessions->pdata[i]);
}

void transport_drop(Transport *transport)
{
    Batch *batch;
    while (transport->sessions->len > 0) {
        Session *session = transport->sessions->pdata[transport->sessions->len - 1];
        while ((batch = session_steal_batch(session)) != NULL)
            withdraw(transport, batch);
        g_ptr_array_remove_index_fast(transport->sessions, transport->sessions->len - 1);
    }
}
