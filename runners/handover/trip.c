/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/handover/trip.h"

#include <event2/event.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "net/resolve.h"
#include "net/smtp_client.h"
#include "runners/handover/parcel.h"

#define CONNECT_TIMEOUT (10 * CLOCK_SECOND)
#define TIMEOUT (60 * CLOCK_SECOND)

typedef struct Journey Journey;

/* ParcelTrip holds the entries that go to one host, and the connection to it. */
typedef struct ParcelTrip {
    Journey *journey;
    const char *host, *address;
    SmtpSettings settings;
    SmtpClient *client;
    Resolve *resolve;
    guint next; /* place among the shipments */
    Shipment *current;
    bool over;
} ParcelTrip;

struct Journey {
    GPtrArray *shipments;
    Runner *runner;
    struct event_base *base;
    GPtrArray *trips; /* of ParcelTrip */
    bool given_up;    /* the process is to end */
};

void shipment_free(Shipment *shipment)
{
    g_free(shipment->recipient);
    g_clear_pointer(&shipment->content, g_bytes_unref);
    g_free(shipment->why);
    g_free(shipment);
}

SmtpTls *trip_certificates(const Config *config, GError **error)
{
    g_autoptr(SmtpTls) tls = smtp_tls_new(config_string(config, "host", "authority_file"), error);
    return tls && smtp_tls_present(tls, config_string(config, "host", "certificate_file"),
                                   config_string(config, "host", "key_file"), error)
               ? g_steal_pointer(&tls)
               : NULL;
}

static const char *recipient_of(void *data, size_t index, size_t *length)
{
    (void)index;
    const Shipment *shipment = data;
    *length = strlen(shipment->recipient);
    return shipment->recipient;
}

static void on_ready(SmtpClient *client, void *data)
{
    ParcelTrip *trip = data;
    GPtrArray *all = trip->journey->shipments;
    runner_progress(trip->journey->runner);
    while (trip->next < all->len && strcmp(((Shipment *)all->pdata[trip->next])->host, trip->host) != 0)
        trip->next++;
    if (trip->next >= all->len || runner_stopping(trip->journey->runner)) {
        smtp_client_quit(client);
        return;
    }
    trip->current = all->pdata[trip->next++];
    trip->current->content = parcel_pack(trip->current->entry, trip->current->name, trip->current->queue);
    g_autoptr(SmtpBody) body = smtp_body_new(trip->current->content);
    SmtpTransaction transaction = {
        .sender = "", .count = 1, .recipient = recipient_of, .data = trip->current, .body = body};
    smtp_client_send(client, &transaction);
}

static void on_result(SmtpClient *client, size_t index, const SmtpResult *result, void *data)
{
    (void)client, (void)index;
    ParcelTrip *trip = data;
    trip->current->sent = result->verdict == SMTP_SENT;
    if (!trip->current->sent)
        trip->current->why = g_strdup(result->reply);
}

static void on_done(SmtpClient *client, void *data)
{
    (void)client;
    g_clear_pointer(&((ParcelTrip *)data)->current->content, g_bytes_unref);
}

static void end_trip(ParcelTrip *trip, const char *why)
{
    GPtrArray *all = trip->journey->shipments;
    for (guint at = 0; why && at < all->len; at++) {
        Shipment *shipment = all->pdata[at];
        if (shipment->sent || strcmp(shipment->host, trip->host) != 0)
            continue;
        shipment->unreachable = true;
        if (!shipment->why)
            shipment->why = g_strdup(why);
    }
    trip->over = true;
}

static void on_closed(SmtpClient *client, const SmtpResult *why, void *data)
{
    (void)client;
    ParcelTrip *trip = data;
    trip->client = NULL;
    end_trip(trip, why->verdict == SMTP_SENT ? NULL : why->text);
}

static const SmtpHandler handler = {.ready = on_ready, .result = on_result, .done = on_done, .closed = on_closed};

static void on_resolved(struct addrinfo *addresses, const GError *error, void *data)
{
    ParcelTrip *trip = data;
    trip->resolve = NULL;
    if (!addresses) {
        end_trip(trip, error->message);
        return;
    }
    trip->client = smtp_client_new(trip->journey->base, addresses->ai_addr, addresses->ai_addrlen, &trip->settings,
                                   &handler, trip);
    freeaddrinfo(addresses);
}

static void begin_trip(Journey *journey, const Shipment *shipment, const SmtpTls *tls)
{
    ParcelTrip *trip = g_new0(ParcelTrip, 1);
    *trip = (ParcelTrip){.journey = journey, .host = shipment->host, .address = shipment->address};
    trip->settings = (SmtpSettings){.server = trip->host,
                                    .protocol = SMTP_PROTOCOL_LMTP,
                                    .chunking = true,
                                    .helo_name = config_string(runner_config(journey->runner), "site", "hostname"),
                                    .tls = SMTP_TLS_VERIFY,
                                    .tls_at_once = true,
                                    .tls_context = tls,
                                    .tls_name = trip->host};
    for (SmtpPhase phase = 0; phase < SMTP_PHASES; phase++)
        trip->settings.timeouts[phase] = phase < SMTP_MAIL ? CONNECT_TIMEOUT : TIMEOUT;
    g_ptr_array_add(journey->trips, trip);
    const char *colon = strrchr(trip->address, ':');
    if (!colon) {
        end_trip(trip, "its address has no port");
        return;
    }
    bool bracketed = *trip->address == '[' && colon[-1] == ']';
    g_autofree char *name = g_strndup(trip->address + bracketed, (gsize)(colon - trip->address) - 2 * bracketed);
    trip->resolve = resolve_start(journey->base, name, colon + 1, on_resolved, trip);
}

static bool has_trip(const Journey *journey, const char *host)
{
    for (guint at = 0; at < journey->trips->len; at++)
        if (strcmp(((const ParcelTrip *)journey->trips->pdata[at])->host, host) == 0)
            return true;
    return false;
}

static bool is_under_way(const Journey *journey)
{
    for (guint at = 0; at < journey->trips->len; at++)
        if (!((const ParcelTrip *)journey->trips->pdata[at])->over)
            return !journey->given_up;
    return false;
}

/* Wakes the loop, so that a wait does not look like a stall and a stop is seen. */
static void on_tick(evutil_socket_t fd, short what, void *data)
{
    (void)fd, (void)what;
    Journey *journey = data;
    runner_progress(journey->runner);
    journey->given_up = runner_stopping(journey->runner);
}

static void trip_free(gpointer data)
{
    ParcelTrip *trip = data;
    if (trip->resolve)
        resolve_cancel(trip->resolve);
    smtp_client_free(trip->client);
    g_free(trip);
}

void trip_make(GPtrArray *shipments, Runner *runner, const SmtpTls *tls)
{
    Journey journey = {.shipments = shipments, .runner = runner, .base = event_base_new()};
    journey.trips = g_ptr_array_new_with_free_func(trip_free);
    struct event *tick = event_new(journey.base, -1, EV_PERSIST, on_tick, &journey);
    event_add(tick, &(struct timeval){.tv_sec = 1});
    for (guint at = 0; at < shipments->len; at++)
        if (!has_trip(&journey, ((const Shipment *)shipments->pdata[at])->host))
            begin_trip(&journey, shipments->pdata[at], tls);
    while (is_under_way(&journey))
        event_base_loop(journey.base, EVLOOP_ONCE);
    g_ptr_array_unref(journey.trips);
    event_free(tick);
    event_base_free(journey.base);
}
