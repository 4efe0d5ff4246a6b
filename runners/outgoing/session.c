/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Sessions: one connection each, which belongs to a destination. A session is made for a batch, tries the hosts of the
 * batch's next hop one after another until one lets it in, sends, and then waits a moment for
 * another batch for the same host. Feeding it is the transport's: what was just delivered is made safe first.
 */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "runners/outgoing/transport_internal.h"

/* A host that could not be reached is tried after the others for so long. */
#define BAD_HOST_TIME (60 * CLOCK_SECOND)
/* Wait so long before an extension that a host seemed to offer and did not bear is tried again. */
#define WITHOUT_TIME (24 * 3600 * CLOCK_SECOND)

/* While there are no further connections to be had, one gives way to another destination after so many transactions. */
#define GOES_ON_MAX 20

struct Session {
    Transport *transport;
    Destination *destination;
    Nexthop *nexthop;     /* whose hosts are tried; not to be looked at later: it may be gone */
    SmtpClient *client;
    SmtpSettings settings; /* the transport's, with the host's name */
    char *host;
    Batch *batch;
    GQueue behind;        /* of Batch: in flight too, by their own links */
    Flight flight;        /* the last one */
    unsigned *order;      /* of hosts to be tried */
    unsigned hosts, next;
    bool established;     /* was ready once */
    bool waits;           /* among the idle */
    bool between;         /* its last batch is over, and the server has still to answer to RSET */
    bool spent;           /* the server takes no more over it */
    int64_t opened;       /* monotonic, of the first try */
    int64_t connected;    /* monotonic */
    int64_t connect_us;   /* until it was ready; counted to the first batch */
    GList idle, idle_all; /* in the destination, in the transport */
};

static const SmtpHandler handler;

static void set_idle(Session *session, bool idle)
{
    if (session->waits == idle)
        return;
    session->waits = idle;
    if (idle) {
        g_queue_push_head_link(&session->destination->load.idle, &session->idle);
        g_queue_push_tail_link(&session->transport->idle, &session->idle_all);
    } else {
        g_queue_unlink(&session->destination->load.idle, &session->idle);
        g_queue_unlink(&session->transport->idle, &session->idle_all);
    }
    destination_changed(session->destination);
}

static void set_between(Session *session, bool between)
{
    if (session->between == between)
        return;
    session->between = between;
    session->transport->between += between ? 1 : -1;
    session->destination->load.between += between ? 1 : -1;
    destination_changed(session->destination);
}

void transport_session_free(Session *session)
{
    set_idle(session, false);
    set_between(session, false);
    session->destination->load.sessions--;
    session->destination->load.established -= session->established;
    destination_changed(session->destination);
    smtp_client_free(session->client);
    for (Batch *batch; (batch = session_steal_batch(session)) != NULL;)
        batch_free(batch);
    g_free(session->order);
    g_free(session->host);
    g_free(session);
}

void session_quit(Session *session)
{
    set_idle(session, false);
    smtp_client_quit(session->client);
}

Batch *session_steal_batch(Session *session)
{
    Batch *batch = session->batch;
    GList *link = g_queue_pop_head_link(&session->behind);
    session->batch = link ? link->data : NULL;
    return batch;
}

size_t session_in_flight(const Session *session)
{
    return (session->batch != NULL) + session->behind.length;
}

/* --- sending ------------------------------------------------------------ */

static void note_sent(Session *session, Batch *batch)
{
    batch->begun = clock_monotonic();
    batch->connect_us = session->connect_us;
    session->connect_us = 0;
    batch->conn_use = smtp_client_transactions(session->client);
    batch->relay = g_strdup(smtp_client_peer(session->client));
    batch->host = g_strdup(session->host);
    batch->other_host = false;
    const GArray *hosts = batch->nexthop->hosts;
    for (guint i = 0; !batch->avoid && session->transport->mx && i < hosts->len; i++)
        batch->other_host |= g_strcmp0(g_array_index(hosts, Host, i).name, session->host) != 0;
}

static bool worn_out(const Session *session)
{
    const Transport *transport = session->transport;
    unsigned used = smtp_client_transactions(session->client);
    unsigned most = destination_most_transactions(session->destination, transport->per_connection, clock_steady());
    return transport->stopping || session->spent || (most > 0 && used >= most) ||
           (transport->reuse_time > 0 && clock_monotonic() - session->connected >= transport->reuse_time) ||
           session->destination->suspended;
}

/* Send the batch, and behind it as many more in the same flight as there may be, while the destination has more than it
 * may be busy with; together for no more recipients than one transaction may have, so that no more than those are in
 * doubt at a time. */
static void send_batch(Session *session)
{
    const Transport *transport = session->transport;
    Destination *destination = session->destination;
    SmtpTransaction transaction;
    delivery_describe(session->batch, transport->asks_reports, &transaction);
    smtp_client_send(session->client, &transaction);
    session->flight = (Flight){.sent = 1};
    note_sent(session, session->batch);

    int64_t now = clock_steady();
    unsigned most = 1;
    if (transport->rate.per_second <= 0)
        most = pipelining_most(&destination->pipelining, transport->pipelined, now);
    size_t recipients = session->batch->count;
    while (session->flight.sent < most && smtp_client_takes_behind(session->client) && !worn_out(session)) {
        Batch *behind = scheduler_behind(destination, now);
        if (!behind || (recipients += behind->count) > transport->per_transaction)
            return;
        delivery_describe(behind, transport->asks_reports, &transaction);
        if (!smtp_client_send_behind(session->client, &transaction))
            return;
        scheduler_take_behind(destination, behind, now);
        batch_begin(behind);
        note_sent(session, behind);
        g_queue_push_tail_link(&session->behind, &behind->link);
        if (session->flight.sent++ == 1) {
            destination->pipelining.out++;
            destination->counts.flights++;
        }
    }
}

static void on_ready(SmtpClient *client, void *data)
{
    Session *session = data;
    set_between(session, false);
    if (!session->established) {
        session->established = true;
        destination_connected(session->destination, clock_steady());
        session->connected = clock_monotonic();
        session->connect_us = session->connected - session->opened;
    }
    if (session->batch) {
        send_batch(session);
    } else if (worn_out(session)) {
        smtp_client_quit(client);
    } else {
        set_idle(session, true);
    }
}

/* The host that the session is with, if it is still one of the next hop's. */
static Host *host_of(const Session *session)
{
    GArray *hosts = session->nexthop->hosts;
    unsigned index = session->next > 0 ? session->order[session->next - 1] : 0;
    return index < hosts->len ? &g_array_index(hosts, Host, index) : NULL;
}

/* This host is spared it for a day. nexthop: of a batch that is still there. */
static void do_without(const Session *session, SmtpFallback what)
{
    static const char *const names[] = {[SMTP_FALLBACK_CHUNKING] = "BDAT", [SMTP_FALLBACK_PIPELINING] = "PIPELINING",
                                        [SMTP_FALLBACK_EHLO] = "EHLO"};
    Host *host = what ? host_of(session) : NULL;
    int64_t now = clock_monotonic();
    if (host && host->without[what] <= now)
        log_info("transport %s: %s does not bear %s; it is done without", session->transport->name,
                 smtp_client_peer(session->client), names[what]);
    if (host)
        host->without[what] = now + WITHOUT_TIME;
}

static void on_result(SmtpClient *client, size_t index, const SmtpResult *result, void *data)
{
    (void)client;
    Session *session = data;
    if (session->nexthop == session->batch->nexthop)
        do_without(session, result->fallback);
    batch_set_fate(session->batch, index, result);
}

static void on_done(SmtpClient *client, void *data)
{
    (void)client;
    Session *session = data;
    Batch *batch = session_steal_batch(session);
    batch->finished = clock_monotonic();
    session->spent |= transport_batch_done(session->transport, session->destination, batch, &session->flight);
    set_between(session, !session->batch);
}

/* --- connecting --------------------------------------------------------- */

/* The next host of those to be tried; false when there is none. */
static bool connect_next(Session *session)
{
    const GArray *hosts = session->nexthop->hosts;
    const SmtpSettings *settings = &session->transport->settings;
    while (session->next < session->hosts) {
        unsigned index = session->order[session->next++];
        if (index >= hosts->len) /* they were looked up again meanwhile */
            continue;
        const Host *host = &g_array_index(hosts, Host, index);
        g_free(session->host);
        session->host = g_strdup(host->name);
        session->settings.server = session->host;
        int64_t now = clock_monotonic();
        session->settings.chunking = settings->chunking && host->without[SMTP_FALLBACK_CHUNKING] <= now;
        session->settings.no_pipelining = settings->no_pipelining || host->without[SMTP_FALLBACK_PIPELINING] > now;
        session->settings.helo = host->without[SMTP_FALLBACK_EHLO] > now;
        session->client = smtp_client_new(session->transport->shared->base, (const struct sockaddr *)&host->address,
                                          host->length, &session->settings, &handler, session);
        return true;
    }
    return false;
}

static void on_closed(SmtpClient *client, const SmtpResult *why, void *data)
{
    Session *session = data;
    Transport *transport = session->transport;
    Destination *destination = session->destination;
    bool failed = !session->established && why->verdict != SMTP_SENT;
    if (failed && session->batch)
        do_without(session, why->fallback);
    session->client = NULL; /* it frees itself */
    if (failed && session->batch) {
        Host *host = host_of(session);
        if (why->fallback)
            session->next--; /* the same host, without */
        else if (host && session->nexthop->hosts->len > 1)
            host->bad_until = clock_monotonic() + BAD_HOST_TIME;
        if (!transport->stopping && connect_next(session))
            return;
    }
    Batch *batch = g_steal_pointer(&session->batch);
    bool stopped = batch && !failed; /* before it was connected */
    g_ptr_array_remove_fast(transport->sessions, session);
    if (stopped) {
        batch_begin(batch);
        batch->unstarted = true;
        transport_batch_done(transport, destination, batch, &(Flight){.sent = 1});
    } else if (batch) {
        if (why->phase > SMTP_CONNECT) /* it was reached, and did not let us in */
            batch->relay = g_strdup(smtp_client_peer(client));
        transport_no_connection(transport, destination, batch, why);
    }
}

static const SmtpHandler handler = {on_ready, on_result, on_done, on_closed};

Destination *session_goes_on(const Transport *transport, const Destination *front)
{
    for (const GList *link = transport->idle.head; link; link = link->next) {
        const Session *session = link->data;
        if (smtp_client_transactions(session->client) < GOES_ON_MAX && !smtp_client_busy(session->client) &&
            scheduler_equals(front, session->destination))
            return session->destination;
    }
    return NULL;
}

/* Close one whose QUIT is about to go; destination NULL: of any. Return false when there is none. */
static bool close_leaving(const Transport *transport, const Destination *destination)
{
    for (guint i = 0; i < transport->sessions->len; i++) {
        const Session *session = transport->sessions->pdata[i];
        bool ours = !destination || session->destination == destination;
        if (ours && !session->batch && smtp_client_leaving(session->client)) {
            g_ptr_array_remove_index_fast(transport->sessions, i);
            return true;
        }
    }
    return false;
}

void session_send(Transport *transport, Destination *destination, Batch *batch)
{
    transport->busy++;
    batch_begin(batch);
    for (GList *link = destination->load.idle.head, *next; link; link = next) {
        Session *waiting = link->data;
        next = link->next;
        if (smtp_client_busy(waiting->client)) { /* it has rested too long, and may be saying goodbye already */
            set_idle(waiting, false);
        } else if (!batch->avoid || strcmp(waiting->host, batch->avoid) != 0) {
            set_idle(waiting, false);
            waiting->batch = batch;
            send_batch(waiting);
            return;
        }
    }

    unsigned limit = destination->limits->window.limit;
    if (limit > 0 && destination->load.sessions >= limit)
        close_leaving(transport, destination); /* what it bears, it counts by connections */
    /* One connection fewer: one that is leaving, else one that waits for work, which says QUIT. */
    if (transport->sessions->len >= transport->sessions_max && !close_leaving(transport, NULL) &&
        !g_queue_is_empty(&transport->idle)) {
        session_quit(transport->idle.head->data);
        close_leaving(transport, NULL);
    }

    Session *session = g_new0(Session, 1);
    session->transport = transport;
    session->destination = destination;
    session->nexthop = batch->nexthop;
    session->settings = transport->settings;
    session->batch = batch;
    session->opened = clock_monotonic();
    session->idle.data = session;
    session->idle_all.data = session;
    session->order = nexthop_order(batch->nexthop, session->opened, batch->avoid, &session->hosts);
    destination->load.sessions++;
    destination_changed(destination);
    g_ptr_array_add(transport->sessions, session);
    connect_next(session); /* a batch waits only while hosts are known */
}
