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

/* What was known of a host by its address still is. */
static void keep_known(const GArray *hosts, Host *found)
{
    for (guint i = 0; i < hosts->len; i++) {
        const Host *host = &g_array_index(hosts, Host, i);
        if (host->length != found->length || memcmp(&host->address, &found->address, found->length) != 0)
            continue;
        found->bad_until = host->bad_until;
        memcpy(found->without, host->without, sizeof found->without);
        return;
    }
}

static void replace_hosts(Nexthop *nexthop, GArray *hosts, int64_t expires)
{
    for (guint i = 0; i < hosts->len; i++)
        keep_known(nexthop->hosts, &g_array_index(hosts, Host, i));
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
    unsigned index, preference, chance;
    bool bad;
} HostChoice;

static int compare_choices(const void *a, const void *b)
{
    const HostChoice *one = a;
    const HostChoice *other = b;
    if (one->bad != other->bad)
        return one->bad ? 1 : -1;
    if (one->preference != other->preference)
        return one->preference < other->preference ? -1 : 1;
    return one->chance < other->chance ? -1 : one->chance > other->chance;
}

unsigned *nexthop_order(const Nexthop *nexthop, int64_t monotonic, const char *avoid, unsigned *count)
{
    *count = nexthop->hosts->len;
    if (*count == 0)
        return NULL;
    g_autofree HostChoice *choices = g_new(HostChoice, *count);
    for (unsigned i = 0; i < *count; i++) {
        const Host *host = &g_array_index(nexthop->hosts, Host, i);
        bool last = host->bad_until > monotonic || g_strcmp0(host->name, avoid) == 0;
        choices[i] = (HostChoice){i, host->preference, g_random_int(), last};
    }
    qsort(choices, *count, sizeof(HostChoice), compare_choices);
    unsigned *order = g_new(unsigned, *count);
    for (unsigned i = 0; i < *count; i++)
        order[i] = choices[i].index;
    return order;
}
