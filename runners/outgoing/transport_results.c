/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This ends batches: it says what their destination is told, and where they go. */
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/judge.h"
#include "runners/outgoing/transport.h"
#include "runners/outgoing/transport_internal.h"

#define HOUR (3600 * CLOCK_SECOND)
/* After so many refused transactions of a message the others of this attempt are not begun. */
#define HALT_LEAST 3
#define HALT_MOST 20

/* How often a batch that found no connection is tried again at once, while others work. */
#define UNCONNECTED_MAX 5
/* Seconds' worth of a transport's rate that wait in memory, and what may in any case. */
#define RATE_AHEAD 120.0
#define LEAST_AHEAD 5

/* --- giving batches back ------------------------------------------------ */

static void give_back(Transport *transport, Batch *batch)
{
    batch->nexthop->batches--;
    transport->shared->owner->finished(transport->shared->data, batch);
}

void transport_put_off_refused(Transport *transport, Batch *batch)
{
    const Nexthop *nexthop = batch->nexthop;
    g_autofree char *reply = nexthop->code ? g_strdup_printf("%u %s %s", nexthop->code, nexthop->status, nexthop->text)
                                           : g_strdup(nexthop->text);
    batch_begin(batch);
    batch_set_rest(batch, &(SmtpResult){.verdict = nexthop->never ? SMTP_NEVER : SMTP_LATER,
                                        .phase = SMTP_RCPT, /* it is about the recipient's domain */
                                        .code = nexthop->code, .status = nexthop->status, .text = nexthop->text,
                                        .reply = reply});
    batch->begun = batch->finished = clock_monotonic();
    give_back(transport, batch);
}

/* The message was refused already in this attempt: the others need not ask. */
static void put_off_halted(Transport *transport, Batch *batch)
{
    const Delivery *delivery = batch->delivery;
    batch_begin(batch);
    batch_set_rest(batch, &(SmtpResult){.verdict = SMTP_LATER, .phase = delivery->halted_at,
                                        .status = delivery->halted_status, .text = delivery->halted_text,
                                        .reply = delivery->halted_reply});
    g_array_index(batch->fates, Fate, 0).about = FATE_OF_MESSAGE;
    batch->begun = batch->finished = clock_monotonic();
    give_back(transport, batch);
}

void transport_withdraw(Transport *transport, Batch *batch)
{
    batch->nexthop->batches--;
    transport->shared->owner->withdrawn(transport->shared->data, batch);
}

/* Its recipients wait for the destination, not for another attempt. */
static void park(Transport *transport, Batch *batch, int64_t due)
{
    const char *sender = batch->nexthop->sender;
    RelayRefusal *refusal = sender ? refusals_find(&transport->refusals, sender) : NULL;
    if (refusal)
        refusals_wait(&transport->refusals, refusal, entry_trace(batch->delivery->entry), clock_now());
    batch->nexthop->batches--;
    transport->shared->owner->parked(transport->shared->data, batch, due);
}

void transport_park_all(Transport *transport, Destination *destination)
{
    GQueue waiting = G_QUEUE_INIT;
    scheduler_take(destination, NULL, &waiting);
    for (GList *link; (link = g_queue_pop_head_link(&waiting)) != NULL;)
        park(transport, link->data, destination_return_time(destination, clock_steady(), g_random_double()));
}

static bool closed(const Destination *destination)
{
    return destination->suspended || destination_dead(destination);
}

void transport_say_dead(const Transport *transport, const Destination *destination)
{
    log_warn("transport %s: destination %s is dead for %d s: %s", transport->name, destination->name,
             (int)((destination->dead_until - clock_steady()) / CLOCK_SECOND), destination->reason);
}

/* When a batch that comes now should come again, because there is no room for it; 0: there is. */
static int64_t no_room_until(Transport *transport, Destination *destination)
{
    int64_t now = clock_steady();
    if (destination->unresolved) /* another one takes its place, and decides */
        return 0;
    if (closed(destination))
        return destination_return_time(destination, now, g_random_double());
    if (transport->shared->alone && destination_rate(destination, now).per_second <= 0)
        return 0;
    int64_t until = destination_full_until(destination, now);
    double each = transport->rate.per_second;
    if (each > 0 && (double)transport->scheduler.waiting > MAX(each * RATE_AHEAD, LEAST_AHEAD))
        until = MAX(until, now + (int64_t)(RATE_AHEAD * CLOCK_SECOND));
    return until;
}

void transport_accept(Transport *transport, Job *job, Batch *batch, bool new)
{
    Nexthop *nexthop = batch->nexthop;
    nexthop->batches++;
    nexthop->last_used = clock_monotonic();
    if (batch->delivery->halted == transport) {
        put_off_halted(transport, batch);
        return;
    }
    if (nexthop_refused(nexthop, nexthop->last_used)) {
        transport_put_off_refused(transport, batch);
        return;
    }
    int64_t due = no_room_until(transport, nexthop->destination);
    if (due > 0 && (new || closed(nexthop->destination)))
        park(transport, batch, due);
    else
        scheduler_add_batch(job, nexthop->destination, batch, new, clock_steady());
}

int64_t transport_wait_time(const Transport *transport, int64_t age)
{
    return MIN(destination_fifth(age), backoff_delay(transport->backoff, age, g_random_double()));
}

/* --- what became of batches --------------------------------------------- */

static void count(Destination *destination, const Batch *batch)
{
    DestinationCounts *counts = &destination->counts;
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        uint64_t *sum = fate->result.verdict == SMTP_SENT    ? &counts->sent
                        : fate->result.verdict == SMTP_LATER ? &counts->deferred
                                                      : &counts->bounced;
        *sum += fate->again ? 0 : fate->count;
        if (fate->result.verdict != SMTP_SENT) {
            g_free(destination->last_reply);
            destination->last_reply = g_strdup(fate->result.text);
        }
    }
    destination_observe(destination, (double)(batch->finished - batch->begun) / CLOCK_SECOND, clock_steady());
}

static void call_back(Transport *transport, Destination *destination)
{
    if (destination->load.parked.all)
        transport->shared->owner->recalled(transport->shared->data, destination);
}

static void change_nexthop(Batch *batch, Nexthop *nexthop)
{
    batch->nexthop->batches--;
    batch->nexthop = nexthop;
    nexthop->batches++;
}

/* Let the mail of this sender that waits for one next hop of the relay wait for another; sender NULL: all of it. */
static void move_mail(Transport *transport, Nexthop *from, Nexthop *to, const char *sender)
{
    GQueue waiting = G_QUEUE_INIT;
    scheduler_take(from->destination, from, &waiting);
    if (!g_queue_is_empty(&waiting))
        transport_know_hosts(transport, to);
    for (GList *link; (link = g_queue_pop_head_link(&waiting)) != NULL;) {
        Batch *batch = link->data;
        if (!sender || strcmp(batch->delivery->sender_domain, sender) == 0)
            change_nexthop(batch, to);
        batch->nexthop->batches--;
        batch->job->read--;
        transport_accept(transport, batch->job, batch, true);
    }
}

/* The relay refuses the sender of the batch. Its mail has a destination of its own from now on, which is dead, so that
 * one message at a time finds out when that is over, and mail of others goes on. */
static void keep_apart(Transport *transport, RelayRefusal *refusal, Batch *batch)
{
    Nexthop *apart = transport_nexthop_apart(transport, refusal->sender);
    Destination *destination = apart->destination;
    bool new = !refusal->apart;
    for (guint i = 0; i < batch->fates->len; i++) {
        Fate *fate = &g_array_index(batch->fates, Fate, i);
        fate->waits |= fate->about != FATE_OF_RECIPIENT;
    }
    refusal->apart = true;
    if (batch->nexthop != apart)
        change_nexthop(batch, apart);
    if (!new)
        return;
    destination->refused_at = refusal->phase;
    destination->suspended |= transport->relay->destination->suspended;
    destination_set_reason(destination, "5.7.1", refusal->reply);
    destination_kill(destination, clock_steady(), true, g_random_double());
    log_warn("transport %s: the relay refuses mail from %s, which waits: %s", transport->name,
             *refusal->sender ? refusal->sender : "<>", refusal->reply);
    move_mail(transport, transport->relay, apart, refusal->sender);
}

static Nexthop *nexthop_apart_of(const Transport *transport, const Destination *destination)
{
    GHashTableIter iterator;
    gpointer value;
    g_hash_table_iter_init(&iterator, transport->nexthops);
    while (g_hash_table_iter_next(&iterator, NULL, &value))
        if (((const Nexthop *)value)->destination == destination)
            return value;
    return NULL;
}

static RelayRefusal *refusal_of(const Transport *transport, const Nexthop *apart)
{
    return apart ? refusals_find(&transport->refusals, apart->sender) : NULL;
}

/* Tell the destination, which may die of it. One line says each change, and what waits for it follows. */
static void tell(Transport *transport, Destination *destination, const SiteReport *report, const Flight *flight)
{
    int64_t now = clock_steady();
    bool was_down = destination->deaths > 0, rested = pace_rests(&destination->pace);
    bool was_slow = destination->pace.rate.per_second > 0;
    bool died = destination_tell(destination, report, now, g_random_double());
    if (flight->back == flight->sent) {
        destination_end(destination);
        transport->busy--;
        if (flight->sent > 1)
            pipelining_end(&destination->pipelining, !flight->broken, clock_steady());
    }
    if (died) {
        transport_say_dead(transport, destination);
        transport_park_all(transport, destination);
    }
    bool answers = was_down && destination->deaths == 0, slow = destination->pace.rate.per_second > 0;
    bool fast = was_slow && !slow, rests = pace_rests(&destination->pace);
    if (answers)
        log_info("transport %s: destination %s answers again", transport->name, destination->name);
    if (slow && !was_slow)
        log_warn("transport %s: destination %s wants less mail, and gets it more slowly: %s", transport->name,
                 destination->name, destination->reason ? destination->reason : "");
    else if (fast)
        log_info("transport %s: destination %s takes mail as fast as it comes again", transport->name,
                 destination->name);
    if (answers && destination->refused_at > 0) {
        /* The relay takes the sender's mail again, which goes with that of others from now on. */
        Nexthop *apart = nexthop_apart_of(transport, destination);
        RelayRefusal *refusal = refusal_of(transport, apart);
        destination->refused_at = 0;
        if (refusal) {
            refusal->apart = false;
            move_mail(transport, apart, transport->relay, NULL);
        }
    }
    if (answers || fast || (rested && !rests))
        call_back(transport, destination);
}

/* It waits for its turn again, before the others of its job; or goes back as it was. */
static void again(Transport *transport, Batch *batch)
{
    if (transport->stopping) {
        transport->shared->owner->withdrawn(transport->shared->data, batch);
        return;
    }
    Job *job = batch->job;
    if (!job->scheduler)
        scheduler_add_job(&transport->scheduler, job, batch->delivery, batch->delivery->queued);
    transport_accept(transport, job, batch, false);
}

/* Count one more batch of the delivery: the rest that a transaction was cut from, or that goes again. */
static void adopt_rest(Batch *rest)
{
    rest->delivery->batches++;
}

void transport_was_cut(Batch *rest)
{
    adopt_rest(rest);
    rest->nexthop->batches++;
}

/* Let the answers teach what the destination bears. In a flight only the first trouble is told. */
static ReplyVerdict judge(Transport *transport, Destination *destination, Batch *batch, Flight *flight)
{
    int64_t now = clock_steady();
    ReplyVerdict verdict = judge_batch(transport->shared->replies, destination, transport->relay != NULL, batch);
    SiteNews news = verdict.report.news;
    if (verdict.recipients > 0 && destination_learn_recipients(destination, verdict.recipients, now))
        log_info("transport %s: destination %s takes %u recipients in a transaction", transport->name,
                 destination->name, verdict.recipients);
    if (verdict.transactions > 0) {
        destination_learn_transactions(destination, verdict.transactions, now);
        log_info("transport %s: destination %s takes %u messages over a connection", transport->name,
                 destination->name, verdict.transactions);
    }
    if (verdict.full)
        destination_learn_connections(destination, destination->load.sessions - 1, now);
    if (news == SITE_GOOD)
        pipelining_observe(&destination->pipelining, batch->finished - batch->begun, now);
    if (news != SITE_FAILED && news != SITE_THROTTLED)
        return verdict;
    if (flight->trouble)
        verdict.report.news = SITE_UNKNOWN;
    else
        destination_set_reason(destination, verdict.worst->result.status, verdict.worst->result.text);
    flight->trouble = true;
    return verdict;
}

/* Give the settled part of the batch back to the owner, and send the rest again. */
static void part(Transport *transport, Batch *batch, bool elsewhere)
{
    Batch *rest = batch_split(batch);
    if (rest) {
        rest->unsettled = batch->count > 0 ? 0 : batch->unsettled + 1;
        if (elsewhere)
            rest->avoid = g_strdup(batch->host);
        adopt_rest(rest);
        rest->job->read++;
        rest->job->selected++;
    }
    give_back(transport, batch);
    if (rest)
        again(transport, rest);
}

/* The relay has refused the message: soon it need not see it again for each of the other recipients. But it may be some
 * copies that it dislikes, so each hour one more is tried, and nobody waits behind those of others until the end. */
static void halt(Transport *transport, Batch *batch)
{
    Delivery *delivery = batch->delivery;
    const Fate *fate = NULL;
    for (guint i = 0; !fate && i < batch->fates->len; i++)
        if (g_array_index(batch->fates, Fate, i).about == FATE_OF_MESSAGE)
            fate = &g_array_index(batch->fates, Fate, i);
    Destination *destination;
    if (!fate || delivery->halted)
        return;
    int64_t hours = (clock_now() - entry_arrival(delivery->entry)) / HOUR;
    if (++delivery->copies_refused < CLAMP(HALT_LEAST + hours, HALT_LEAST, HALT_MOST))
        return;
    delivery->halted = transport;
    delivery->halted_at = fate->result.phase;
    delivery->halted_status = g_strdup(fate->result.status);
    delivery->halted_text = g_strdup(fate->result.text);
    delivery->halted_reply = g_strdup(fate->result.reply);
    for (Batch *other; batch->job->scheduler && (other = scheduler_take_of(batch->job, &destination)) != NULL;)
        put_off_halted(transport, other);
}

void transport_given_up(Transport *transport, const Delivery *delivery)
{
    if ((transport->refusals.all || transport->refusals.later) &&
        refusals_settle(&transport->refusals, delivery->sender_domain, entry_trace(delivery->entry)))
        log_info("transport %s: nothing from %s is refused by the relay any more", transport->name,
                 *delivery->sender_domain ? delivery->sender_domain : "<>");
}

bool transport_batch_done(Transport *transport, Destination *destination, Batch *batch, Flight *flight)
{
    RelayRefusals *refusals = &transport->refusals;
    const Delivery *delivery = batch->delivery;
    const char *trace = entry_trace(delivery->entry);
    flight->back++;
    flight->broken |= batch->behind;
    bool untried = batch->unstarted, judged = !untried && !batch->behind;
    /* Mail of one family is mail that we send ourselves, as a test; what the relay says of that is not about us. */
    bool about_us = judged && destination->own && batch->nexthop->family == AF_UNSPEC;
    bool refused = refusals->all != NULL;
    for (guint i = 0; about_us && !refused && i < batch->fates->len; i++)
        refused = g_array_index(batch->fates, Fate, i).result.verdict == SMTP_NEVER;

    /* This comes first, for it makes deferrals of refusals because of us. */
    RelayRefusal *apart = about_us && refused
                              ? refusals_judge(refusals, delivery->sender_domain, trace, batch, clock_now())
                              : NULL;
    ReplyVerdict verdict = {.report.news = SITE_UNKNOWN};
    if (judged)
        verdict = judge(transport, destination, batch, flight);
    if (!untried)
        count(destination, batch);
    tell(transport, destination, &verdict.report, flight);
    if (apart)
        keep_apart(transport, apart, batch);
    /* It may also refuse for a time because of us; that is remembered, too. */
    bool later = about_us && refusals_note_later(refusals, delivery->sender_domain, trace, batch, clock_now());
    if (judged && (refusals->all || refusals->later)) {
        halt(transport, batch);
        bool sent = false;
        refused = later;
        for (guint i = 0; i < batch->fates->len; i++) {
            const Fate *fate = &g_array_index(batch->fates, Fate, i);
            sent |= fate->result.verdict == SMTP_SENT && fate->count > 0;
            refused |= fate->about != FATE_OF_RECIPIENT;
        }
        if (sent && !refused) /* what else there is of it is noted again when it is refused again */
            transport_given_up(transport, delivery);
    }
    if (untried) {
        batch->nexthop->batches--;
        again(transport, batch);
    } else {
        part(transport, batch, verdict.elsewhere);
    }
    return untried || verdict.spent;
}

void transport_no_connection(Transport *transport, Destination *destination, Batch *batch, const SmtpResult *why)
{
    destination->counts.refused_connections++;
    bool others = destination->load.sessions > 0; /* connected or about to be */
    ReplyVerdict verdict = judge_connection(transport->shared->replies, others, batch->count, why);
    if (!verdict.full)
        destination_set_reason(destination, why->status, why->text);
    if (destination->refused_at > 0) {
        /* The mail that is kept apart waits for another reason now. It is told with the refusal, and not by itself. */
        RelayRefusal *refusal = refusal_of(transport, nexthop_apart_of(transport, destination));
        if (refusal)
            refusal_set_reply(refusal, why->reply);
    }
    tell(transport, destination, &verdict.report, &(Flight){.sent = 1, .back = 1});
    if (others) /* it may be at its limit, not away */
        destination_turned_away(destination, destination->load.sessions, clock_steady());
    bool tries = destination->load.established > 0 || verdict.full ||
                 (others && batch->unconnected++ < UNCONNECTED_MAX);
    if (!closed(destination) && tries) {
        batch->nexthop->batches--;
        again(transport, batch);
    } else {
        batch_set_rest(batch, why);
        for (guint i = 0; i < batch->fates->len; i++)
            g_array_index(batch->fates, Fate, i).waits = true;
        batch->begun = batch->finished = clock_monotonic();
        destination->counts.deferred += batch->count;
        give_back(transport, batch);
    }
}

void transport_look(Transport *transport, Destination *destination)
{
    if (!closed(destination))
        call_back(transport, destination);
    else if (!destination->unresolved)
        transport_park_all(transport, destination);
}

void transport_resolved(Transport *transport, Destination *destination)
{
    if (closed(destination))
        transport_park_all(transport, destination);
}
