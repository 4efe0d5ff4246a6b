/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/mx.h"

#include <string.h>

#include "base/clock.h"
#include "net/mx_internal.h"

struct MxResolver {
    struct event_base *base;
    MxSettings settings;
    char *servers;
    char **own;
    Dns *dns;
    GHashTable *memory;  /* domain -> Kept */
    GQueue used;         /* of Kept, the longest unused at the head */
    GHashTable *asking;  /* domain -> Asking, running or waiting */
    GQueue waiting;      /* of Asking */
    size_t running;
    GQueue ready;        /* of MxLookup with their route */
    struct event *ready_event;
    bool *freed;         /* set by mx_resolver_free() while a callback runs */
    bool closing;
    bool starting;       /* inside start_waiting() */
    MxFigures figures;
};

typedef struct KeptAnswer {
    MxRoute *route;
    GList link; /* in used */
} KeptAnswer;

/* A domain whose answer is awaited, and by whom. */
typedef struct Asking {
    MxResolver *resolver;
    char *domain;
    GQueue lookups; /* of MxLookup */
} Asking;

struct MxLookup {
    MxResolver *resolver;
    MxDone *done;
    void *data;
    uint16_t port;
    GQueue *queue; /* where link is */
    GList link;
    MxRoute *route; /* once it is ready */
};

/* --- the memory --------------------------------------------------------- */

static void forget(MxResolver *resolver, KeptAnswer *kept)
{
    g_queue_unlink(&resolver->used, &kept->link);
    g_hash_table_remove(resolver->memory, kept->route->domain);
    mx_route_unref(kept->route);
    g_free(kept);
}

static void keep(MxResolver *resolver, MxRoute *route)
{
    if (route->outcome == MX_LATER)
        return;
    KeptAnswer *old = g_hash_table_lookup(resolver->memory, route->domain);
    if (old)
        forget(resolver, old);
    KeptAnswer *kept = g_new0(KeptAnswer, 1);
    kept->route = mx_route_ref(route);
    kept->link.data = kept;
    g_queue_push_tail_link(&resolver->used, &kept->link);
    g_hash_table_insert(resolver->memory, route->domain, kept);
    while (resolver->used.length > resolver->settings.cache_size)
        forget(resolver, resolver->used.head->data);
}

/* Borrowed; NULL when nothing fresh is known. */
static MxRoute *remember(MxResolver *resolver, const char *domain)
{
    KeptAnswer *kept = g_hash_table_lookup(resolver->memory, domain);
    if (!kept)
        return NULL;
    if (kept->route->expires <= clock_monotonic()) {
        forget(resolver, kept);
        return NULL;
    }
    g_queue_unlink(&resolver->used, &kept->link);
    g_queue_push_tail_link(&resolver->used, &kept->link);
    return kept->route;
}

/* --- answers ------------------------------------------------------------ */

static void lookup_free(MxLookup *lookup)
{
    g_queue_unlink(lookup->queue, &lookup->link);
    mx_route_unref(lookup->route);
    g_free(lookup);
}

static void enqueue(MxLookup *lookup, GQueue *queue)
{
    if (lookup->queue)
        g_queue_unlink(lookup->queue, &lookup->link);
    lookup->queue = queue;
    g_queue_push_tail_link(queue, &lookup->link);
}

static void make_ready(MxLookup *lookup, MxRoute *route)
{
    lookup->route = mx_route_ref(route);
    enqueue(lookup, &lookup->resolver->ready);
    event_active(lookup->resolver->ready_event, EV_TIMEOUT, 0);
}

static void answer(MxLookup *lookup)
{
    g_autoptr(MxRoute) route = mx_route_ref(lookup->route);
    size_t count;
    g_autofree MxHost *hosts = mx_route_hosts(route, lookup->port, lookup->resolver->settings.address_limit, &count);
    MxDone *done = lookup->done;
    void *data = lookup->data;
    lookup_free(lookup);
    done(&(MxAnswer){.outcome = route->outcome, .domain = route->domain, .hosts = hosts, .count = count,
                     .key = route->key, .status = route->status, .code = route->code, .text = route->text,
                     .expires = route->expires},
         data);
}

/* Answer the lookups that are ready now. Lookups that the callbacks ask for have their turn later. */
static void on_ready(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    MxResolver *resolver = data;
    bool freed = false;
    resolver->freed = &freed;
    for (guint left = resolver->ready.length; left > 0 && !freed && resolver->ready.length > 0; left--)
        answer(resolver->ready.head->data);
    if (freed)
        return;
    resolver->freed = NULL;
    if (resolver->ready.length > 0)
        event_active(resolver->ready_event, EV_TIMEOUT, 0);
}

/* --- questions ---------------------------------------------------------- */

static void start_waiting(MxResolver *resolver);

static void asking_free(Asking *asking)
{
    g_free(asking->domain);
    g_free(asking);
}

static void on_found(MxRoute *found, void *data)
{
    Asking *asking = data;
    MxResolver *resolver = asking->resolver;
    g_autoptr(MxRoute) route = found;
    resolver->running--;
    if (resolver->closing)
        return;
    g_hash_table_remove(resolver->asking, asking->domain);
    keep(resolver, route);
    while (asking->lookups.head)
        make_ready(asking->lookups.head->data, route);
    asking_free(asking);
    start_waiting(resolver);
}

/* Answers may come at once, when no name server can be reached: no recursion, however many wait. */
static void start_waiting(MxResolver *resolver)
{
    if (resolver->starting)
        return;
    resolver->starting = true;
    while (resolver->running < resolver->settings.parallel && resolver->waiting.head) {
        Asking *asking = g_queue_pop_head(&resolver->waiting);
        resolver->running++;
        mx_query_start(resolver->dns, &resolver->settings, asking->domain, on_found, asking);
    }
    resolver->starting = false;
}

static void ask(MxResolver *resolver, MxLookup *lookup, const char *domain)
{
    Asking *asking = g_hash_table_lookup(resolver->asking, domain);
    if (asking) {
        enqueue(lookup, &asking->lookups);
        return;
    }
    asking = g_new0(Asking, 1);
    asking->resolver = resolver;
    asking->domain = g_strdup(domain);
    g_hash_table_insert(resolver->asking, asking->domain, asking);
    enqueue(lookup, &asking->lookups);
    g_queue_push_tail(&resolver->waiting, asking);
    start_waiting(resolver);
}

static MxRoute *refuse_name(const char *domain)
{
    MxRoute *route = mx_route_new(domain);
    g_autofree char *shown = g_utf8_make_valid(domain, MIN((gssize)strlen(domain), 255));
    mx_route_refuse(route, MX_NEVER, 501, "5.1.2", g_strdup_printf("\"%s\" is no domain name", shown));
    return route;
}

MxLookup *mx_lookup(MxResolver *resolver, const char *domain, uint16_t port, MxDone *done, void *data)
{
    MxLookup *lookup = g_new0(MxLookup, 1);
    *lookup = (MxLookup){.resolver = resolver, .done = done, .data = data, .port = port};
    lookup->link.data = lookup;
    resolver->figures.lookups++;
    g_autofree char *normal = mx_domain_normal(domain);
    g_autoptr(MxRoute) made = normal ? NULL : mx_route_literal(domain);
    if (made)
        mx_route_leave_own(made, (const char *const *)resolver->own);
    else if (!normal)
        made = refuse_name(domain);
    if (made && made->targets && !resolver->settings.private_addresses && mx_route_leave_private(made))
        mx_route_refuse_private(made); /* it has one address */
    if (made) {
        made->expires = clock_monotonic() + resolver->settings.lifetime_max_us;
        make_ready(lookup, made);
        return lookup;
    }
    MxRoute *known = remember(resolver, normal);
    resolver->figures.cached += known ? 1 : 0;
    if (known)
        make_ready(lookup, known);
    else
        ask(resolver, lookup, normal);
    return lookup;
}

void mx_cancel(MxLookup *lookup)
{
    lookup_free(lookup);
}

MxFigures mx_figures(const MxResolver *resolver)
{
    MxFigures figures = resolver->figures;
    figures.entries = resolver->used.length;
    figures.running = resolver->running;
    figures.waiting = resolver->waiting.length;
    return figures;
}

/* --- the whole ---------------------------------------------------------- */

static void set_defaults(MxSettings *settings)
{
    settings->families = settings->families ? settings->families : MX_IPV4 | MX_IPV6;
    settings->cache_size = settings->cache_size ? settings->cache_size : 10000;
    settings->lifetime_min_us = settings->lifetime_min_us ? settings->lifetime_min_us : 5 * CLOCK_SECOND;
    settings->lifetime_max_us = settings->lifetime_max_us ? settings->lifetime_max_us : 86400 * CLOCK_SECOND;
    settings->address_limit = settings->address_limit ? settings->address_limit : 5;
    settings->parallel = settings->parallel ? settings->parallel : 200;
    settings->timeout_us = settings->timeout_us ? settings->timeout_us : 5 * CLOCK_SECOND;
    settings->tries = settings->tries ? settings->tries : 3;
}

MxResolver *mx_resolver_new(struct event_base *base, const MxSettings *settings, GError **error)
{
    g_autoptr(MxResolver) resolver = g_new0(MxResolver, 1);
    resolver->base = base;
    resolver->settings = *settings;
    set_defaults(&resolver->settings);
    resolver->servers = g_strdup(settings->servers);
    resolver->settings.servers = resolver->servers;
    resolver->own = g_strdupv((char **)settings->own);
    resolver->settings.own = (const char *const *)resolver->own;
    resolver->memory = g_hash_table_new(g_str_hash, g_str_equal);
    resolver->asking = g_hash_table_new(g_str_hash, g_str_equal);
    resolver->ready_event = evtimer_new(base, on_ready, resolver);
    resolver->dns = dns_new(base, resolver->servers, resolver->settings.timeout_us, resolver->settings.tries, error);
    return resolver->dns ? g_steal_pointer(&resolver) : NULL;
}

static void drop_asking(MxResolver *resolver)
{
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, resolver->asking);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Asking *asking = value;
        while (asking->lookups.head)
            lookup_free(asking->lookups.head->data);
        asking_free(asking);
    }
}

void mx_resolver_free(MxResolver *resolver)
{
    if (!resolver)
        return;
    if (resolver->freed)
        *resolver->freed = true;
    resolver->closing = true;
    dns_free(resolver->dns);
    drop_asking(resolver);
    while (resolver->ready.head)
        lookup_free(resolver->ready.head->data);
    while (resolver->used.head)
        forget(resolver, resolver->used.head->data);
    g_queue_clear(&resolver->waiting);
    g_hash_table_unref(resolver->asking);
    g_hash_table_unref(resolver->memory);
    event_free(resolver->ready_event);
    g_strfreev(resolver->own);
    g_free(resolver->servers);
    g_free(resolver);
}
