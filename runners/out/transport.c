/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/transport.h"

#include <netinet/in.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/resolve.h"
#include "runners/out/backoff.h"

/* How long an address that was looked up is used without asking again. */
#define ADDRESS_LIFETIME (60 * CLOCK_SECOND)

typedef struct Session {
    Transport *transport;
    SmtpClient *client;
    Batch *batch;
    const struct addrinfo *address;
    bool ready;          /* waits for work */
    bool established;    /* was ready once */
    int64_t opened;      /* monotonic */
    int64_t connect_us;  /* until it was ready; counted to the first batch */
} Session;

struct Transport {
    struct event_base *base;
    char *name;
    const char *host;
    char port[8];
    SmtpSettings settings;
    size_t limit;        /* connections */
    size_t per_transaction;
    unsigned per_connection;
    const TransportOwner *owner;
    void *data;

    GPtrArray *sessions; /* of Session, owned */
    size_t busy;
    size_t opening;      /* sessions not yet established */
    bool stopping;

    Resolve *resolve;
    struct addrinfo *addresses;
    const struct addrinfo *address; /* the one in use */
    int64_t resolved;    /* monotonic */

    unsigned refusals;   /* of further connections, in a row, while others work */
    int64_t full_until;  /* monotonic */
    unsigned failures;   /* in a row */
    int64_t closed_until; /* monotonic */
    char *trouble;
};

static int64_t duration(const Config *config, const char *section, const char *key)
{
    return config_duration(config, section, key);
}

Transport *transport_new(struct event_base *base, const Config *config, const char *name, unsigned instances,
                         const TransportOwner *owner, void *data)
{
    g_autofree char *section = g_strdup_printf("transport.%s", name);
    Transport *transport = g_new0(Transport, 1);
    transport->base = base;
    transport->name = g_strdup(name);
    transport->host = config_string(config, section, "host");
    g_snprintf(transport->port, sizeof(transport->port), "%d", (int)config_integer(config, section, "port"));
    transport->limit = MAX((size_t)config_integer(config, section, "concurrency") / instances, 1);
    transport->per_transaction = (size_t)config_integer(config, section, "recipients_per_transaction");
    transport->per_connection = (unsigned)config_integer(config, section, "transactions_per_connection");
    transport->owner = owner;
    transport->data = data;
    transport->sessions = g_ptr_array_new_with_free_func(g_free);
    int64_t data_block = duration(config, section, "data_block_timeout");
    transport->settings = (SmtpSettings){
        .server = transport->host,
        .helo_name = config_string(config, section, "helo_name"),
        .timeouts = {
            [SMTP_CONNECT] = duration(config, section, "connect_timeout"),
            [SMTP_GREETING] = duration(config, section, "helo_timeout"),
            [SMTP_HELO] = duration(config, section, "helo_timeout"),
            [SMTP_IDLE] = MAX(duration(config, section, "connection_idle"), 1),
            [SMTP_MAIL] = duration(config, section, "mail_timeout"),
            [SMTP_RCPT] = duration(config, section, "rcpt_timeout"),
            [SMTP_DATA] = duration(config, section, "data_init_timeout"),
            [SMTP_BODY] = data_block,
            [SMTP_DOT] = duration(config, section, "data_done_timeout"),
            [SMTP_RSET] = duration(config, section, "rset_timeout"),
            [SMTP_QUIT] = duration(config, section, "quit_timeout"),
        },
    };
    return transport;
}

void transport_free(Transport *transport)
{
    if (!transport)
        return;
    for (guint i = 0; i < transport->sessions->len; i++) {
        Session *session = transport->sessions->pdata[i];
        smtp_client_free(session->client);
        batch_free(session->batch);
    }
    g_ptr_array_unref(transport->sessions);
    if (transport->resolve)
        resolve_cancel(transport->resolve);
    if (transport->addresses)
        freeaddrinfo(transport->addresses);
    g_free(transport->trouble);
    g_free(transport->name);
    g_free(transport);
}

const char *transport_name(const Transport *transport)
{
    return transport->name;
}

int64_t transport_closed_for(const Transport *transport)
{
    return transport->failures > 0 ? MAX(transport->closed_until - clock_monotonic(), 0) : 0;
}

const char *transport_trouble(const Transport *transport)
{
    return transport->failures > 0 ? transport->trouble : NULL;
}

bool transport_connected(const Transport *transport)
{
    for (guint i = 0; i < transport->sessions->len; i++)
        if (((const Session *)transport->sessions->pdata[i])->established)
            return true;
    return false;
}

size_t transport_busy(const Transport *transport)
{
    return transport->busy;
}

size_t transport_connections(const Transport *transport)
{
    return transport->sessions->len;
}

/* --- the server's health ------------------------------------------------ */

static void recover(Transport *transport)
{
    transport->refusals = 0;
    if (transport->failures == 0)
        return;
    log_info("transport %s: %s answers again", transport->name, transport->host);
    transport->failures = 0;
}

/* No connection came about, and no other is on its way. Another address is
 * tried at once; when all failed and no session works, the owner is told. */
static void suffer(Transport *transport, const struct addrinfo *address, const char *reason)
{
    if (address && address == transport->address)
        transport->address = address->ai_next;
    if (transport->opening > 0 || (address && transport->address))
        return;
    transport->address = transport->addresses;
    if (transport_connected(transport)) { /* it is at its limit, not away */
        transport->full_until = clock_monotonic() + backoff_reconnect(++transport->refusals);
        return;
    }
    transport->failures++;
    int64_t pause = backoff_reconnect(transport->failures);
    transport->closed_until = clock_monotonic() + pause;
    g_free(transport->trouble);
    transport->trouble = g_strdup(reason);
    log_warn("transport %s: %s; the next connection is tried in %d s", transport->name, reason,
             (int)(pause / CLOCK_SECOND));
    transport->owner->failed(transport->data, transport, transport->trouble);
}

/* --- sessions ----------------------------------------------------------- */

static const char *recipient_of(void *data, size_t index, size_t *length)
{
    const Batch *batch = data;
    *length = batch->recipients[index].length;
    return batch->recipients[index].address;
}

static void send_batch(Session *session, Batch *batch)
{
    session->batch = batch;
    session->ready = false;
    session->transport->busy++;
    batch->begun = clock_monotonic();
    batch->connect_us = session->connect_us;
    session->connect_us = 0;
    batch->conn_use = smtp_client_transactions(session->client) + 1;
    batch->relay = g_strdup(smtp_client_peer(session->client));
    smtp_client_send(session->client, &(SmtpTransaction){.sender = batch->job->sender,
                                                         .count = batch->count,
                                                         .recipient = recipient_of,
                                                         .data = batch,
                                                         .body = batch->job->body,
                                                         .smtputf8 = batch->job->smtputf8});
}

/* Work is given by transport_feed(), not here: what was just delivered is
 * made safe first. */
static void on_ready(SmtpClient *client, void *data)
{
    Session *session = data;
    Transport *transport = session->transport;
    if (!session->established) {
        session->established = true;
        session->connect_us = clock_monotonic() - session->opened;
        transport->opening--;
        recover(transport);
    }
    session->ready = true;
    if (transport->stopping ||
        (transport->per_connection > 0 && smtp_client_transactions(client) >= transport->per_connection)) {
        session->ready = false;
        smtp_client_quit(client);
    }
}

static void on_result(SmtpClient *client, size_t index, const SmtpResult *result, void *data)
{
    (void)client;
    batch_set_fate(((Session *)data)->batch, index, result);
}

static void on_done(SmtpClient *client, void *data)
{
    (void)client;
    Session *session = data;
    session->batch->finished = clock_monotonic();
    session->transport->busy--;
    session->transport->owner->finished(session->transport->data, g_steal_pointer(&session->batch));
}

static void on_closed(SmtpClient *client, const SmtpResult *why, void *data)
{
    (void)client;
    Session *session = data;
    Transport *transport = session->transport;
    bool established = session->established;
    const struct addrinfo *address = session->address;
    transport->opening -= established ? 0 : 1;
    g_ptr_array_remove_fast(transport->sessions, session);
    if (!established && why->verdict != SMTP_SENT)
        suffer(transport, address, why->text);
}

static const SmtpHandler handler = {on_ready, on_result, on_done, on_closed};

static void open_session(Transport *transport)
{
    Session *session = g_new0(Session, 1);
    session->transport = transport;
    session->opened = clock_monotonic();
    session->address = transport->address;
    transport->opening++;
    g_ptr_array_add(transport->sessions, session);
    session->client = smtp_client_new(transport->base, transport->address->ai_addr, transport->address->ai_addrlen,
                                      &transport->settings, &handler, session);
}

/* --- addresses ---------------------------------------------------------- */

static void on_resolved(struct addrinfo *addresses, const GError *error, void *data)
{
    Transport *transport = data;
    transport->resolve = NULL;
    if (!addresses && transport->addresses) {
        log_warn("transport %s: %s; the address known before is used", transport->name, error->message);
        transport->resolved = clock_monotonic();
        return;
    }
    if (!addresses) {
        suffer(transport, NULL, error->message);
        return;
    }
    if (transport->addresses)
        freeaddrinfo(transport->addresses);
    transport->addresses = addresses;
    transport->address = addresses;
    transport->resolved = clock_monotonic();
}

/* True when there is an address to connect to; else one is on its way. */
static bool know_address(Transport *transport)
{
    bool stale = !transport->addresses || clock_monotonic() - transport->resolved > ADDRESS_LIFETIME;
    if (stale && !transport->resolve)
        transport->resolve = resolve_start(transport->base, transport->host, transport->port, on_resolved, transport);
    return transport->address != NULL;
}

/* --- feeding ------------------------------------------------------------ */

static void feed_ready(Transport *transport)
{
    for (guint i = 0; i < transport->sessions->len; i++) {
        Session *session = transport->sessions->pdata[i];
        if (!session->ready)
            continue;
        Batch *batch = transport->owner->next(transport->data, transport, transport->per_transaction);
        if (!batch)
            return;
        send_batch(session, batch);
    }
}

static void open_more(Transport *transport)
{
    if (transport->sessions->len >= transport->limit || transport_closed_for(transport) > 0)
        return;
    if (transport->sessions->len > 0 && clock_monotonic() < transport->full_until)
        return;
    size_t room = transport->limit - transport->sessions->len;
    if (transport->failures > 0)
        room = transport->opening > 0 ? 0 : 1;
    size_t wanted = transport->owner->waiting(transport->data, transport, transport->per_transaction,
                                              room + transport->opening);
    if (wanted <= transport->opening || !know_address(transport))
        return;
    for (size_t more = MIN(wanted - transport->opening, room); more > 0; more--)
        open_session(transport);
}

void transport_feed(Transport *transport)
{
    if (transport->stopping)
        return;
    feed_ready(transport);
    open_more(transport);
}

void transport_stop(Transport *transport)
{
    transport->stopping = true;
    for (guint i = 0; i < transport->sessions->len; i++)
        smtp_client_quit(((Session *)transport->sessions->pdata[i])->client);
}
