/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/transport.h"

#include <netdb.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/log.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/judge.h"
#include "runners/outgoing/transport_internal.h"

/* How long an address that was looked up is used without asking again. */
#define ADDRESS_LIFETIME (60 * CLOCK_SECOND)
#define HOUR (3600 * CLOCK_SECOND)
/* After so many refused transactions of a message the others of this attempt are not begun. */
#define HALT_LEAST 3
#define HALT_MOST 20

/* How often a batch that found no connection is tried again at once, while others work. */
#define UNCONNECTED_MAX 5
/* Seconds' worth of a transport's rate that wait in memory, and what may in any case. */
#define RATE_AHEAD 120.0
#define LEAST_AHEAD 5
/* A next hop or a destination that nobody used for so long is forgotten. */
#define UNUSED_LIFETIME (600 * CLOCK_SECOND)
/* A message that waits for a destination is looked at again within 15 minutes; and some time for its turn. */
#define LOOKED_AT (1200 * CLOCK_SECOND)
#define TURN (300 * CLOCK_SECOND)

/* --- hosts of a next hop --------------------------------------------------- */

static void clear_host(void *host)
{
    g_free(((Host *)host)->name);
}

static GArray *new_hosts(void)
{
    GArray *hosts = g_array_new(FALSE, TRUE, sizeof(Host));
    g_array_set_clear_func(hosts, clear_host);
    return hosts;
}

static Nexthop *nexthop_new(struct Transport *transport, const char *name)
{
    Nexthop *nexthop = g_new0(Nexthop, 1);
    nexthop->name = g_strdup(name);
    nexthop->transport = transport;
    nexthop->hosts = new_hosts();
    return nexthop;
}

static void nexthop_free(Nexthop *nexthop)
{
    if (nexthop->lookup)
        mx_cancel(nexthop->lookup);
    if (nexthop->resolve)
        resolve_cancel(nexthop->resolve);
    g_array_unref(nexthop->hosts);
    g_free(nexthop->status);
    g_free(nexthop->text);
    g_free(nexthop->name);
    g_free(nexthop->sender);
    g_free(nexthop);
}

static bool nexthop_refused(const Nexthop *nexthop, int64_t monotonic)
{
    return nexthop->text && monotonic < nexthop->refused_until;
}

static void forget_refusal(Nexthop *nexthop)
{
    g_clear_pointer(&nexthop->status, g_free);
    g_clear_pointer(&nexthop->text, g_free);
    nexthop->never = false;
}

/* Keep what was known of a host by its address. */
static void replace_hosts(Nexthop *nexthop, GArray *hosts, int64_t expires)
{
    for (guint i = 0; i < hosts->len; i++) {
        Host *found = &g_array_index(hosts, Host, i);
        for (guint j = 0; j < nexthop->hosts->len; j++) {
            const Host *host = &g_array_index(nexthop->hosts, Host, j);
            if (host->length != found->length || memcmp(&host->address, &found->address, found->length) != 0)
                continue;
            found->bad_until = host->bad_until;
            memcpy(found->without, host->without, sizeof found->without);
            break;
        }
    }
    g_array_unref(nexthop->hosts);
    nexthop->hosts = hosts;
    nexthop->expires = expires;
    forget_refusal(nexthop);
}

typedef struct HostChoice {
    const Host *host;
    unsigned index, chance; /* chance: the same for all addresses of a name */
    bool bad, last;
} HostChoice;

/* Order the hosts: first hosts that are not in avoid and have not failed lately; then by preference, and by the chance
 * of their name. */
static int compare_choices(const void *a, const void *b)
{
    const HostChoice *one = a;
    const HostChoice *other = b;
    if (one->last != other->last)
        return one->last ? 1 : -1;
    if (one->host->preference != other->host->preference)
        return one->host->preference < other->host->preference ? -1 : 1;
    if (one->chance != other->chance)
        return one->chance < other->chance ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

static sa_family_t family_of(const HostChoice *choice)
{
    return choice->host->address.ss_family;
}

/* Return whether a family has failed lately where the other has not. */
static bool family_failed(const HostChoice *choices, unsigned count, sa_family_t family)
{
    bool failed = false, other_failed = false;
    for (unsigned i = 0; i < count; i++)
        *(family_of(&choices[i]) == family ? &failed : &other_failed) |= choices[i].bad;
    return failed && !other_failed;
}

/* Append the addresses of one name to the order: the families by turns, that of the first address first unless it has
 * failed. Of those of one preference any may be first; a relay's stand in the order of the system. */
static unsigned *take_turns(const HostChoice *choices, unsigned count, bool failed, unsigned *order)
{
    g_autofree unsigned *queues = g_new(unsigned, 2 * (size_t)count);
    unsigned lengths[2] = {0}, taken[2] = {0};
    for (unsigned i = 0; i < count; i++) {
        bool second = (family_of(&choices[i]) != family_of(&choices[0])) != failed;
        queues[second * count + lengths[second]++] = choices[i].index;
    }
    bool equal = choices[0].host->preference == choices[count - 1].host->preference;
    unsigned from = equal ? g_random_int() % count : 0;
    for (unsigned turn = 0; taken[0] + taken[1] < count; turn++) {
        unsigned which = turn % 2;
        if (taken[which] < lengths[which])
            *order++ = queues[which * count + (from + taken[which]++) % lengths[which]];
    }
    return order;
}

unsigned *nexthop_order(const Nexthop *nexthop, int64_t monotonic, const char *avoid, unsigned *count)
{
    *count = nexthop->hosts->len;
    if (*count == 0)
        return NULL;
    g_autofree HostChoice *choices = g_new(HostChoice, *count);
    for (unsigned i = 0; i < *count; i++) {
        const Host *host = &g_array_index(nexthop->hosts, Host, i);
        bool bad = host->bad_until > monotonic;
        unsigned same = 0; /* another address of the same name */
        while (same < i && strcmp(choices[same].host->name, host->name) != 0)
            same++;
        choices[i] = (HostChoice){host, i, same < i ? choices[same].chance : g_random_int(), bad,
                                  bad || g_strcmp0(host->name, avoid) == 0};
    }
    qsort(choices, *count, sizeof(HostChoice), compare_choices);
    unsigned *order = g_new(unsigned, *count), *end = order;
    for (unsigned from = 0, to; from < *count; from = to) {
        for (to = from + 1; to < *count && choices[to].last == choices[from].last &&
                            strcmp(choices[to].host->name, choices[from].host->name) == 0;)
            to++;
        end = take_turns(choices + from, to - from, family_failed(choices, *count, family_of(&choices[from])), end);
    }
    return order;
}

/* --- destinations -------------------------------------------------------- */

static Destination *destination_named(Transport *transport, const char *name)
{
    Destination *destination = g_hash_table_lookup(transport->destinations, name);
    if (destination)
        return destination;
    destination = destination_new(name, &transport->limits, &transport->scheduler.changed, clock_steady());
    destination->own = !transport->mx && !transport->lmtp;
    destination->lmtp = transport->lmtp;
    g_hash_table_insert(transport->destinations, destination->name, destination);
    return destination;
}

/* Its batches go there from now on. */
static void join(Nexthop *nexthop, Destination *destination)
{
    if (nexthop->destination)
        nexthop->destination->load.nexthops--;
    nexthop->destination = destination;
    destination->load.nexthops++;
}

/* --- giving batches back ------------------------------------------------ */

static void give_back(Transport *transport, Batch *batch)
{
    batch->nexthop->batches--;
    transport->shared->owner->finished(transport->shared->data, batch);
}

static void put_off_refused(Transport *transport, Batch *batch)
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

static void park_all(Transport *transport, Destination *destination)
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

static void say_dead(const Transport *transport, const Destination *destination)
{
    log_warn("transport %s: destination %s is dead for %d s: %s", transport->name, destination->name,
             (int)((destination->dead_until - clock_steady()) / CLOCK_SECOND), destination->reason);
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
        put_off_refused(transport, batch);
        return;
    }
    /* When the batch should come again, because there is no room for it; 0: there is. Where the servers are not known
     * yet, another destination takes the place of this one, and decides. */
    Destination *destination = nexthop->destination;
    int64_t now = clock_steady(), due = 0;
    if (!destination->unresolved && closed(destination)) {
        due = destination_return_time(destination, now, g_random_double());
    } else if (!destination->unresolved &&
               !(transport->shared->alone && destination_rate(destination, now).per_second <= 0)) {
        double each = transport->rate.per_second;
        due = destination_full_until(destination, now);
        if (each > 0 && (double)transport->scheduler.waiting > MAX(each * RATE_AHEAD, LEAST_AHEAD))
            due = MAX(due, now + (int64_t)(RATE_AHEAD * CLOCK_SECOND));
    }
    if (due > 0 && (new || closed(nexthop->destination)))
        park(transport, batch, due);
    else
        scheduler_add_batch(job, nexthop->destination, batch, new, clock_steady());
}

/* --- next hops ---------------------------------------------------------- */

static void move_waiting(Transport *transport, Nexthop *nexthop, Destination *from)
{
    GQueue waiting = G_QUEUE_INIT;
    scheduler_take(from, nexthop, &waiting);
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
    Destination *destination = destination_named(transport, name);
    if (destination->load.nexthops == 0)
        return destination;
    g_autofree char *another = g_strconcat(name, "?", NULL);
    return destination_named(transport, another);
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
    destination_set_unresolved(to, true);
    join(nexthop, to);
    move_waiting(transport, nexthop, from);
}

/* Let the batches that wait for the next hop wait for another destination from now on. */
static void move_batches(Transport *transport, Nexthop *nexthop, Destination *to)
{
    Destination *from = nexthop->destination;
    join(nexthop, to);
    destination_inherit(to, from, clock_steady());
    move_waiting(transport, nexthop, from);
    /* It stood for one domain until its hosts were known. A delivery of which somebody waits for it still looks at it;
     * then transport_tidy() ends it. */
    if (from->load.nexthops == 0 && from->busy == 0 && from->load.sessions == 0 && from->waiting == 0 &&
        from->load.holders == 0 && !destination_dead(from))
        g_hash_table_remove(transport->destinations, from->name);
}

static void on_mx(const MxAnswer *answer, void *data)
{
    Nexthop *nexthop = data;
    Transport *transport = nexthop->transport;
    nexthop->lookup = NULL;
    int64_t now = clock_monotonic();
    if (answer->outcome == MX_FOUND) {
        GArray *hosts = new_hosts();
        for (size_t i = 0; i < answer->count; i++) {
            const MxHost *from = &answer->hosts[i];
            Host host = {.name = g_strdup(from->name), .preference = from->preference, .length = from->length};
            memcpy(&host.address, &from->address, from->length);
            g_array_append_val(hosts, host);
        }
        replace_hosts(nexthop, hosts, answer->expires);
        g_autofree char *key = g_strdup(transport->group_by_mx ? answer->key : nexthop->name);
        make_way(transport, key, nexthop);
        Destination *destination = destination_named(transport, key);
        destination_set_unresolved(destination, false);
        if (destination != nexthop->destination)
            move_batches(transport, nexthop, destination);
        if (closed(destination))
            park_all(transport, destination);
        return;
    }
    if (answer->outcome == MX_LATER && nexthop->hosts->len > 0) {
        nexthop->expires = now + ADDRESS_LIFETIME;
        log_warn("transport %s: %s: %s; what was known before is used", transport->name, nexthop->name, answer->text);
        return;
    }
    int64_t until = answer->outcome == MX_NEVER ? answer->expires : now + transport->limits.dead_min;
    forget_refusal(nexthop);
    nexthop->status = g_strdup(answer->status);
    nexthop->text = g_strdup(answer->text);
    nexthop->code = answer->code;
    nexthop->never = answer->outcome == MX_NEVER;
    nexthop->refused_until = MAX(until, now + CLOCK_SECOND);
    log_info("transport %s: %s: %s", transport->name, nexthop->name, answer->text);
    GQueue waiting = G_QUEUE_INIT;
    scheduler_take(nexthop->destination, nexthop, &waiting);
    for (GList *link; (link = g_queue_pop_head_link(&waiting)) != NULL;)
        put_off_refused(transport, link->data);
}

static void on_resolved(struct addrinfo *addresses, const GError *error, void *data)
{
    Nexthop *nexthop = data;
    Transport *transport = nexthop->transport;
    int64_t now = clock_monotonic();
    nexthop->resolve = NULL;
    destination_set_unresolved(nexthop->destination, false);
    if (addresses) {
        GArray *hosts = new_hosts();
        unsigned place = 0;
        for (const struct addrinfo *at = addresses; at; at = at->ai_next) {
            Host host = {.name = g_strdup(transport->host), .preference = place++, .length = at->ai_addrlen};
            memcpy(&host.address, at->ai_addr, at->ai_addrlen);
            g_array_append_val(hosts, host);
        }
        replace_hosts(nexthop, hosts, now + ADDRESS_LIFETIME);
        freeaddrinfo(addresses);
        if (closed(nexthop->destination))
            park_all(transport, nexthop->destination);
    } else if (nexthop->hosts->len > 0) {
        log_warn("transport %s: %s; the address known before is used", transport->name, error->message);
        nexthop->expires = now + ADDRESS_LIFETIME;
    } else {
        /* A relay whose name cannot be found is as good as dead. */
        destination_set_reason(nexthop->destination, "4.4.3", error->message);
        destination_kill(nexthop->destination, clock_steady(), true, g_random_double());
        say_dead(transport, nexthop->destination);
        park_all(transport, nexthop->destination);
    }
}

static void know_hosts(Transport *transport, Nexthop *nexthop)
{
    int64_t now = clock_monotonic();
    if (nexthop->lookup || nexthop->resolve || (nexthop->hosts->len > 0 && now < nexthop->expires) ||
        nexthop_refused(nexthop, now))
        return;
    if (transport->path) {
        /* A socket on this machine is never looked up again. */
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        g_strlcpy(address.sun_path, transport->path, sizeof(address.sun_path));
        Host host = {.name = g_strdup(transport->path), .length = sizeof(address)};
        memcpy(&host.address, &address, sizeof(address));
        GArray *hosts = new_hosts();
        g_array_append_val(hosts, host);
        replace_hosts(nexthop, hosts, G_MAXINT64);
        return;
    }
    if (nexthop->hosts->len == 0)
        destination_set_unresolved(nexthop->destination, true);
    if (transport->mx)
        nexthop->lookup = mx_lookup(transport->shared->resolver, nexthop->name, transport->port_number, on_mx, nexthop);
    else
        nexthop->resolve = resolve_start(transport->shared->base, transport->host, transport->port, on_resolved,
                                         nexthop);
}

static void fold(char name[256], const char *domain, size_t length)
{
    size_t used = MIN(length, 255);
    for (size_t i = 0; i < used; i++)
        name[i] = g_ascii_tolower(domain[i]);
    name[used] = '\0';
}

/* "HOST/SENDER", which is no domain; g_free(). */
static char *name_of_sender(const char *name, const char *sender)
{
    return g_strconcat(name, "/", *sender ? sender : "<>", NULL);
}

/* The relay's next hop for mail of this domain of senders; NULL: it is not made yet. */
static Nexthop *find_relay(const Transport *transport, const char *sender)
{
    const RelayRefusal *refusal = refusals_find(&transport->refusals, sender);
    if (!refusal || !refusal->apart)
        return transport->relay;
    g_autofree char *name = name_of_sender(transport->relay->name, sender);
    return g_hash_table_lookup(transport->nexthops, name);
}

static Nexthop *nexthop_apart(Transport *transport, const char *sender)
{
    g_autofree char *name = name_of_sender(transport->relay->name, sender);
    Nexthop *relay = g_hash_table_lookup(transport->nexthops, name);
    if (relay)
        return relay;
    g_autofree char *place = name_of_sender(transport->name, sender);
    relay = nexthop_new(transport, name);
    relay->sender = g_strdup(sender);
    join(relay, destination_named(transport, place));
    g_hash_table_insert(transport->nexthops, relay->name, relay);
    return relay;
}

Destination *transport_place(const Transport *transport, const char *domain, size_t length, const char *sender)
{
    char name[256];
    if (transport->relay) {
        const Nexthop *relay = find_relay(transport, sender);
        return relay ? relay->destination : NULL;
    }
    fold(name, domain, length);
    const Nexthop *nexthop = g_hash_table_lookup(transport->nexthops, name);
    return nexthop ? nexthop->destination : NULL;
}

Nexthop *transport_nexthop(Transport *transport, const char *domain, size_t length, const char *sender)
{
    if (transport->relay) {
        Nexthop *relay = find_relay(transport, sender);
        relay = relay ? relay : nexthop_apart(transport, sender);
        know_hosts(transport, relay);
        return relay;
    }
    char name[256];
    fold(name, domain, length);
    Nexthop *nexthop = g_hash_table_lookup(transport->nexthops, name);
    if (!nexthop) {
        nexthop = nexthop_new(transport, name);
        join(nexthop, waiting_place(transport, name));
        g_hash_table_insert(transport->nexthops, nexthop->name, nexthop);
    }
    know_hosts(transport, nexthop);
    return nexthop;
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
        know_hosts(transport, to);
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
    Nexthop *apart = nexthop_apart(transport, refusal->sender);
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
        say_dead(transport, destination);
        park_all(transport, destination);
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
        RelayRefusal *refusal = apart ? refusals_find(&transport->refusals, apart->sender) : NULL;
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

static void was_cut(Batch *rest)
{
    rest->delivery->batches++;
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
    bool about_us = judged && destination->own;
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
        return true;
    }
    /* The settled part goes back to the owner, and the rest is sent again. */
    Batch *rest = batch_split(batch);
    if (rest) {
        rest->unsettled = batch->count > 0 ? 0 : batch->unsettled + 1;
        if (verdict.elsewhere)
            rest->avoid = g_strdup(batch->host);
        rest->delivery->batches++;
        rest->job->read++;
        rest->job->selected++;
    }
    give_back(transport, batch);
    if (rest)
        again(transport, rest);
    return verdict.spent;
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
        const Nexthop *apart = nexthop_apart_of(transport, destination);
        RelayRefusal *refusal = apart ? refusals_find(&transport->refusals, apart->sender) : NULL;
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
        park_all(transport, destination);
}

/* --- the whole ----------------------------------------------------------- */

Transport *transport_new(const TransportShared *shared, const char *name, GError **error)
{
    Transport *transport = g_new0(Transport, 1);
    transport->shared = shared;
    transport->name = g_strdup(name);
    transport->nexthops = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)nexthop_free);
    transport->destinations = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                                    (GDestroyNotify)destination_free);
    transport->sessions = g_ptr_array_new_with_free_func((GDestroyNotify)transport_session_free);
    g_queue_init(&transport->idle);
    bool good = transport_read_settings(transport, error);
    scheduler_init(&transport->scheduler, &transport->scheduling);
    transport->scheduler.was_cut = was_cut;
    if (!good) {
        transport_free(transport);
        return NULL;
    }
    if (!transport->mx) {
        transport->relay = nexthop_new(transport, transport->host);
        join(transport->relay, destination_named(transport, transport->name));
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
    g_hash_table_unref(transport->destinations);
    scheduler_clear(&transport->scheduler);
    refusals_clear(&transport->refusals);
    g_clear_pointer(&transport->tls, smtp_tls_free);
    if (transport->password)
        OPENSSL_cleanse(transport->password, strlen(transport->password));
    g_free(transport->password);
    g_free(transport->steps);
    g_free(transport->name);
    g_free(transport);
}

size_t transport_in_flight(const Transport *transport)
{
    size_t count = 0;
    for (guint i = 0; i < transport->sessions->len; i++)
        count += session_in_flight(transport->sessions->pdata[i]);
    return count;
}

/* --- feeding ------------------------------------------------------------ */

/* Until the transport's own rate allows one more, us. */
static int64_t rate_wait(Transport *transport, int64_t now)
{
    return bucket_wait(&transport->bucket, transport->rate, transport->burst, now);
}

static bool has_room(const Transport *transport)
{
    return transport->busy + transport->between < transport->sessions_max;
}

bool transport_feed(Transport *transport)
{
    int64_t now = clock_steady();
    bool any = false;
    if (transport->stopping)
        return false;
    scheduler_wake(&transport->scheduler, now);
    while (has_room(transport) && rate_wait(transport, now) == 0) {
        Destination *front = scheduler_front(&transport->scheduler, now), *destination;
        if (!front)
            break;
        /* Where it would need a connection that another has to be closed for, an open one goes on instead. */
        bool scarce = transport->sessions->len >= transport->sessions_max && g_queue_is_empty(&front->load.idle);
        Destination *kept = scarce ? session_goes_on(transport, front) : NULL;
        Batch *batch = scheduler_next(&transport->scheduler, kept ? kept : front, &destination, now);
        transport->bucket.tokens -= (double)batch->count;
        session_send(transport, destination, batch);
        any = true;
    }
    return any;
}

int64_t transport_wake(Transport *transport)
{
    int64_t now = clock_steady();
    if (transport->stopping)
        return 0;
    int64_t wake = scheduler_wake(&transport->scheduler, now);
    int64_t wait = rate_wait(transport, now);
    if (wait == 0 || g_sequence_is_empty(transport->scheduler.ready) || !has_room(transport))
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
        while ((batch = session_steal_batch(session)) != NULL) {
            batch->nexthop->batches--;
            transport->shared->owner->withdrawn(transport->shared->data, batch);
        }
        g_ptr_array_remove_index_fast(transport->sessions, transport->sessions->len - 1);
    }
}

/* --- what is shown, kept and forgotten ------------------------------------- */

static gboolean forget_nexthop(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    Nexthop *nexthop = value;
    const Transport *transport = data;
    bool unused = nexthop != transport->relay && nexthop->destination->refused_at == 0 &&
                  nexthop->batches == 0 && !nexthop->lookup && !nexthop->resolve &&
                  clock_monotonic() - nexthop->last_used > UNUSED_LIFETIME;
    nexthop->destination->load.nexthops -= unused;
    return unused;
}

static gboolean forget_destination(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    Destination *destination = value;
    int64_t now = clock_steady();
    if (destination->load.nexthops > 0 || destination->busy > 0 || destination->waiting > 0 ||
        destination->load.sessions > 0 || destination->load.holders > 0 || destination_dead(destination) ||
        destination->suspended ||
        destination->ordered.per_second >= 0 || pace_rate(&destination->pace, now).per_second > 0)
        return FALSE;
    return now - destination->last_used > UNUSED_LIFETIME;
}

void transport_tidy(Transport *transport)
{
    int64_t longest = MAX(backoff_longest(transport->backoff), LOOKED_AT);
    refusals_tidy(&transport->refusals, clock_now(), longest + TURN);
    g_hash_table_foreach_remove(transport->nexthops, forget_nexthop, transport);
    g_hash_table_foreach_remove(transport->destinations, forget_destination, NULL);
}

void transport_load_refusals(Transport *transport, const json_t *saved)
{
    GHashTableIter iterator;
    gpointer value;
    if (!transport->relay)
        return;
    refusals_load(&transport->refusals, saved);
    if (!transport->refusals.all)
        return;
    g_hash_table_iter_init(&iterator, transport->refusals.all);
    while (g_hash_table_iter_next(&iterator, NULL, &value)) {
        const RelayRefusal *refusal = value;
        if (refusal->apart)
            nexthop_apart(transport, refusal->sender)->destination->refused_at = refusal->phase;
    }
}

Transport *transport_named(const GPtrArray *transports, const char *name)
{
    for (guint i = 0; i < transports->len; i++)
        if (strcmp(((const Transport *)transports->pdata[i])->name, name) == 0)
            return transports->pdata[i];
    return NULL;
}

GPtrArray *transport_destinations(Transport *transport)
{
    GPtrArray *all = g_ptr_array_sized_new(g_hash_table_size(transport->destinations));
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, transport->destinations);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        g_ptr_array_add(all, value);
    return all;
}

Destination *transport_find(Transport *transport, const char *name, bool make)
{
    Destination *found = g_hash_table_lookup(transport->destinations, name);
    const Nexthop *nexthop = found ? NULL : g_hash_table_lookup(transport->nexthops, name);
    if (nexthop)
        return nexthop->destination;
    return found || !make ? found : destination_named(transport, name);
}
