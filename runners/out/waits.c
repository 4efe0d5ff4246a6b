/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/waits.h"

#include "runners/out/transport.h"

/* Walks the recipients of a delivery that wait by one back-off. */
typedef struct Walk {
    const Routes *routes;
    const Backoff *standard, *wanted;
    const Delivery *delivery;
    size_t offset;
    GString *line;
} Walk;

static const Backoff *backoff_of(const Routes *routes, const Backoff *standard, const Delivery *delivery,
                                 Recipient recipient)
{
    size_t length;
    content_address(&delivery->content, &recipient);
    const char *domain = delivery_domain(&recipient, &length);
    const Transport *transport = routes_look(routes, domain, length);
    if (!transport)
        transport = delivery->chosen;
    return transport ? transport_backoff(transport) : standard;
}

GPtrArray *waits_of(const Routes *routes, const Backoff *standard, const Delivery *delivery)
{
    GPtrArray *all = g_ptr_array_new();
    Recipient recipient;
    for (size_t offset = 0; routes && entry_next_recipient(delivery->entry, offset, &recipient);
         offset = recipient.next) {
        if (recipient.state != RECIPIENT_TODO)
            continue;
        const Backoff *backoff = backoff_of(routes, standard, delivery, recipient);
        if (!g_ptr_array_find(all, backoff, NULL))
            g_ptr_array_add(all, (gpointer)backoff);
    }
    if (all->len == 0)
        g_ptr_array_add(all, (gpointer)standard);
    return all;
}

static const char *next_line(void *data, GError **error)
{
    (void)error;
    Walk *walk = data;
    Recipient recipient;
    while (entry_next_recipient(walk->delivery->entry, walk->offset, &recipient)) {
        walk->offset = recipient.next;
        if (recipient.state != RECIPIENT_TODO ||
            backoff_of(walk->routes, walk->standard, walk->delivery, recipient) != walk->wanted)
            continue;
        g_string_truncate(walk->line, 0);
        g_string_append_len(walk->line, recipient.address, (gssize)recipient.length);
        return walk->line->str;
    }
    return NULL;
}

static void walk_free(gpointer data)
{
    Walk *walk = data;
    g_string_free(walk->line, TRUE);
    g_free(walk);
}

void waits_keep(Draft *draft, const Routes *routes, const Backoff *standard, const Delivery *delivery,
                const Backoff *backoff)
{
    Walk *walk = g_new0(Walk, 1);
    *walk = (Walk){.routes = routes, .standard = standard, .wanted = backoff, .delivery = delivery,
                   .line = g_string_new(NULL)};
    draft_set_recipients(draft, next_line, walk, walk_free);
}
