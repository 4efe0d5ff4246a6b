/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/defragment/hand_over.h"

#include <event2/event.h>
#include <inttypes.h>
#include <string.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "net/resolve.h"
#include "net/smtp_client.h"
#include "runners/keys.h"

#define DOWN_US (5 * CLOCK_SECOND)
#define HAND_OVERS_MAX 10
#define MARK "(Listrunner, part for "

typedef struct PeerHost {
    char *name, *address; /* "HOST:PORT", "[IPv6]:PORT", "unix:PATH" */
    int64_t down_until;   /* monotonic */
} PeerHost;

/* A part to be sent. */
typedef struct Marked {
    PeerHost *host;
    Outcome *outcome;
    GBytes *octets;
    char *sender, *recipient;
    int64_t deadline;
    bool smtputf8, sent;
} Marked;

struct Hosts {
    Defragment *own;
    GPtrArray *known;  /* of Host */
    GPtrArray *marked; /* of Marked */
    int64_t timeout;
};

/* One connection and what goes over it. */
typedef struct Trip {
    Hosts *hosts;
    PeerHost *host;
    struct event_base *base;
    SmtpSettings settings;
    SmtpClient *client;
    Resolve *resolve;
    guint next; /* place in marked */
    Marked *current;
    bool over;
} Trip;

static void host_free(gpointer data)
{
    PeerHost *host = data;
    g_free(host->name);
    g_free(host->address);
    g_free(host);
}

static void marked_free(gpointer data)
{
    Marked *marked = data;
    g_bytes_unref(marked->octets);
    g_free(marked->sender);
    g_free(marked->recipient);
    g_free(marked);
}

static bool is_host_address(const char *address)
{
    const char *colon = strrchr(address, ':');
    if (g_str_has_prefix(address, "unix:/"))
        return strlen(address) - 5 < sizeof(((struct sockaddr_un *)0)->sun_path);
    guint64 port;
    return colon && colon != address && g_ascii_string_to_unsigned(colon + 1, 10, 1, 65535, &port, NULL);
}

static bool read_hosts(Hosts *hosts, const Config *config, GError **error)
{
    const char *const *word = config_list(config, "defragment", "hosts");
    for (; word && *word; word++) {
        const char *equal = strchr(*word, '=');
        if (!equal || equal == *word || !is_host_address(equal + 1))
            return fail(error, FAIL_CONFIG,
                        "[defragment] hosts: found \"%s\"; allowed are NAME=HOST:PORT and NAME=unix:/PATH", *word);
        PeerHost *host = g_new0(PeerHost, 1);
        host->name = g_strndup(*word, (gsize)(equal - *word));
        host->address = g_strdup(equal + 1);
        g_ptr_array_add(hosts->known, host);
    }
    return true;
}

Hosts *hosts_new(Defragment *own, GError **error)
{
    const Config *config = runner_config(own->runner);
    g_autoptr(Hosts) hosts = g_new0(Hosts, 1);
    hosts->own = own;
    hosts->known = g_ptr_array_new_with_free_func(host_free);
    hosts->marked = g_ptr_array_new_with_free_func(marked_free);
    hosts->timeout = config_duration(config, "defragment", "host_timeout");
    return read_hosts(hosts, config, error) ? g_steal_pointer(&hosts) : NULL;
}

void hosts_free(Hosts *hosts)
{
    if (!hosts)
        return;
    g_ptr_array_unref(hosts->known);
    g_ptr_array_unref(hosts->marked);
    g_free(hosts);
}

/* ---- marking ---- */

static PeerHost *find_host(const Hosts *hosts, const char *name)
{
    for (guint i = 0; i < hosts->known->len; i++)
        if (strcmp(((PeerHost *)hosts->known->pdata[i])->name, name) == 0)
            return hosts->known->pdata[i];
    return NULL;
}

static unsigned count_hand_overs(const Message *message)
{
    unsigned count = 0;
    size_t index = 0;
    for (const Field *field; (field = message_find(message, "Received", &index)); index++) {
        g_autofree char *value = field_value(field);
        count += strstr(value, MARK) != NULL;
    }
    return count;
}

static GBytes *make_octets(const Part *part, const char *host)
{
    g_autofree char *date = clock_rfc5322(part->now);
    g_autofree char *trace = g_strdup_printf("by %s " MARK "%s) id %s; %s", part->own->host, host,
                                             entry_trace(part->entry), date);
    message_prepend(part->message, "Received", trace);
    g_autoptr(GBytes) head = message_head(part->message), body = message_body(part->message);
    GByteArray *whole = g_byte_array_new();
    gsize length;
    const guint8 *octets = g_bytes_get_data(head, &length);
    g_byte_array_append(whole, octets, (guint)length);
    octets = g_bytes_get_data(body, &length);
    g_byte_array_append(whole, octets, (guint)length);
    return g_byte_array_free_to_bytes(whole);
}

bool hand_over_later(Hosts *hosts, const Part *part, const char *name)
{
    PeerHost *host = find_host(hosts, name);
    json_t *meta = entry_meta(part->entry);
    const char *recipient = meta_string(meta, KEY_RECIPIENT, NULL);
    if (!host)
        log_warn("%s its set waits on the host %s, for which [defragment] hosts has no address",
                 entry_trace(part->entry), name);
    if (!host || !recipient || clock_monotonic() < host->down_until ||
        count_hand_overs(part->message) >= HAND_OVERS_MAX)
        return false;
    Marked *marked = g_new0(Marked, 1);
    *marked = (Marked){.host = host, .outcome = part->outcome, .octets = make_octets(part, name),
                       .sender = g_strdup(part->sender), .recipient = g_strdup(recipient),
                       .deadline = part->deadline, .smtputf8 = meta_bool(meta, KEY_SMTPUTF8, false)};
    g_ptr_array_add(hosts->marked, marked);
    return true;
}

/* ---- sending ---- */

static const char *recipient_of(void *data, size_t index, size_t *length)
{
    const Marked *marked = data;
    *length = strlen(marked->recipient);
    return marked->recipient;
}

/* The next part for this host, or the end. */
static void on_ready(SmtpClient *client, void *data)
{
    Trip *trip = data;
    GPtrArray *all = trip->hosts->marked;
    runner_progress(trip->hosts->own->runner);
    while (trip->next < all->len && ((Marked *)all->pdata[trip->next])->host != trip->host)
        trip->next++;
    if (trip->next >= all->len || runner_stopping(trip->hosts->own->runner)) {
        smtp_client_quit(client);
        return;
    }
    trip->current = all->pdata[trip->next++];
    g_autoptr(SmtpBody) body = smtp_body_new(trip->current->octets);
    SmtpTransaction transaction = {.sender = trip->current->sender, .count = 1, .recipient = recipient_of,
                                   .data = trip->current, .body = body, .smtputf8 = trip->current->smtputf8};
    smtp_client_send(client, &transaction);
}

static void on_result(SmtpClient *client, size_t index, const SmtpResult *result, void *data)
{
    Trip *trip = data;
    trip->current->sent = result->verdict == SMTP_SENT;
    if (!trip->current->sent)
        log_warn("a part for the host %s: %s", trip->host->name, result->reply);
}

static void on_done(SmtpClient *client, void *data)
{
}

static void on_closed(SmtpClient *client, const SmtpResult *why, void *data)
{
    Trip *trip = data;
    if (why->verdict != SMTP_SENT) {
        log_warn("the host %s, which has sets of parts, cannot be reached: %s", trip->host->name, why->text);
        trip->host->down_until = clock_monotonic() + DOWN_US;
    }
    trip->client = NULL;
    trip->over = true;
}

static const SmtpHandler handler = {.ready = on_ready, .result = on_result, .done = on_done, .closed = on_closed};

static void connect_to(Trip *trip, const struct sockaddr *address, socklen_t length)
{
    trip->client = smtp_client_new(trip->base, address, length, &trip->settings, &handler, trip);
}

static void on_resolved(struct addrinfo *addresses, const GError *error, void *data)
{
    Trip *trip = data;
    trip->resolve = NULL;
    if (addresses) {
        connect_to(trip, addresses->ai_addr, addresses->ai_addrlen);
        freeaddrinfo(addresses);
        return;
    }
    log_warn("the host %s, which has sets of parts: %s", trip->host->name, error->message);
    trip->host->down_until = clock_monotonic() + DOWN_US;
    trip->over = true;
}

static void begin_trip(Trip *trip)
{
    const char *address = trip->host->address;
    if (g_str_has_prefix(address, "unix:")) {
        struct sockaddr_un local = {.sun_family = AF_UNIX};
        g_strlcpy(local.sun_path, address + strlen("unix:"), sizeof local.sun_path);
        connect_to(trip, (const struct sockaddr *)&local, sizeof local);
        return;
    }
    const char *colon = strrchr(address, ':');
    bool bracketed = *address == '[' && colon[-1] == ']';
    g_autofree char *name = g_strndup(address + bracketed, (gsize)(colon - address) - 2 * bracketed);
    trip->resolve = resolve_start(trip->base, name, colon + 1, on_resolved, trip);
}

/* Wakes the loop, so that a wait does not look like a stall and a stop is seen. */
static void on_tick(evutil_socket_t fd, short what, void *data)
{
    Trip *trip = data;
    runner_progress(trip->hosts->own->runner);
    if (runner_stopping(trip->hosts->own->runner))
        trip->over = true;
}

static void make_trip(Hosts *hosts, PeerHost *host)
{
    Trip trip = {.hosts = hosts, .host = host, .base = event_base_new()};
    trip.settings = (SmtpSettings){.server = host->name, .helo_name = hosts->own->host,
                                   .protocol = SMTP_PROTOCOL_LMTP, .chunking = true}; /* no byte is added */
    for (SmtpPhase phase = 0; phase < SMTP_PHASES; phase++)
        trip.settings.timeouts[phase] = hosts->timeout;
    struct event *tick = event_new(trip.base, -1, EV_PERSIST, on_tick, &trip);
    event_add(tick, &(struct timeval){.tv_sec = 1});
    begin_trip(&trip);
    while (!trip.over)
        event_base_loop(trip.base, EVLOOP_ONCE);
    if (trip.resolve)
        resolve_cancel(trip.resolve);
    smtp_client_free(trip.client);
    event_free(tick);
    event_base_free(trip.base);
}

static void settle_marked(Hosts *hosts, const Marked *marked)
{
    if (marked->sent) {
        log_info("%s list=%s queue=" DEFRAGMENT_QUEUE " result=handed-over host=%s",
                 entry_trace(marked->outcome->parent), entry_list(marked->outcome->parent), marked->host->name);
        return;
    }
    runner_wait(hosts->own->runner, marked->outcome, MIN(clock_now() + DEFRAGMENT_RETRY, marked->deadline));
}

void hand_over_all(Hosts *hosts)
{
    for (guint i = 0; i < hosts->known->len && hosts->marked->len > 0; i++) {
        bool wanted = false;
        for (guint k = 0; k < hosts->marked->len; k++)
            wanted |= ((Marked *)hosts->marked->pdata[k])->host == hosts->known->pdata[i];
        if (wanted)
            make_trip(hosts, hosts->known->pdata[i]);
    }
    for (guint i = 0; i < hosts->marked->len; i++)
        settle_marked(hosts, hosts->marked->pdata[i]);
    g_ptr_array_set_size(hosts->marked, 0);
}

void hand_over_none(Hosts *hosts)
{
    g_ptr_array_set_size(hosts->marked, 0);
}
