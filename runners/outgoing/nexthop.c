/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/nexthop.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static void clear_host(void *host)
{
    g_free(((Host *)host)->name);
}

Nexthop *nexthop_new(struct Transport *transport, const char *name)
{
    Nexthop *nexthop = g_new0(Nexthop, 1);
    nexthop->name = g_strdup(name);
    nexthop->transport = transport;
    nexthop->hosts = g_array_new(FALSE, TRUE, sizeof(Host));
    g_array_set_clear_func(nexthop->hosts, clear_host);
    return nexthop;
}

void nexthop_free(Nexthop *nexthop)
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

bool nexthop_refused(const Nexthop *nexthop, int64_t monotonic)
{
    return nexthop->text && monotonic < nexthop->refused_until;
}

static void forget_refusal(Nexthop *nexthop)
{
    g_clear_pointer(&nexthop->status, g_free);
    g_clear_pointer(&nexthop->text, g_free);
    nexthop->never = false;
}

void nexthop_refuse(Nexthop *nexthop, const MxAnswer *answer, int64_t until)
{
    forget_refusal(nexthop);
    nexthop->status = g_strdup(answer->status);
    nexthop->text = g_strdup(answer->text);
    nexthop->code = answer->code;
    nexthop->never = answer->outcome == MX_NEVER;
    nexthop->refused_until = until;
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

static GArray *new_hosts(void)
{
    GArray *hosts = g_array_new(FALSE, TRUE, sizeof(Host));
    g_array_set_clear_func(hosts, clear_host);
    return hosts;
}

void nexthop_take_mx(Nexthop *nexthop, const MxAnswer *answer)
{
    GArray *hosts = new_hosts();
    for (size_t i = 0; i < answer->count; i++) {
        const MxHost *from = &answer->hosts[i];
        Host host = {.name = g_strdup(from->name), .preference = from->preference, .length = from->length};
        memcpy(&host.address, &from->address, from->length);
        g_array_append_val(hosts, host);
    }
    replace_hosts(nexthop, hosts, answer->expires);
}

void nexthop_take_addresses(Nexthop *nexthop, const struct addrinfo *addresses, const char *name, int64_t expires)
{
    GArray *hosts = new_hosts();
    unsigned place = 0;
    for (const struct addrinfo *at = addresses; at; at = at->ai_next) {
        Host host = {.name = g_strdup(name), .preference = place++, .length = at->ai_addrlen};
        memcpy(&host.address, at->ai_addr, at->ai_addrlen);
        g_array_append_val(hosts, host);
    }
    replace_hosts(nexthop, hosts, expires);
}

void nexthop_take_path(Nexthop *nexthop, const char *path)
{
    GArray *hosts = new_hosts();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
    Host host = {.name = g_strdup(path), .length = sizeof(address)};
    memcpy(&host.address, &address, sizeof(address));
    g_array_append_val(hosts, host);
    replace_hosts(nexthop, hosts, G_MAXINT64);
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

static unsigned chance_of(const HostChoice *choices, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(choices[i].host->name, name) == 0)
            return choices[i].chance;
    return g_random_int();
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
        choices[i] = (HostChoice){host, i, chance_of(choices, i, host->name), bad,
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
