/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/waits.h"

#include "base/clock.h"
#include "runners/out/transport.h"

/* Walks the recipients of a delivery that wait for one thing. */
typedef struct Walk {
    const Laws *laws;
    Wait wanted;
    const Delivery *delivery;
    size_t offset;
    GString *line;
} Walk;

static Wait wait_of(const Laws *laws, const Delivery *delivery, Recipient recipient)
{
    size_t length;
    bool doubt = delivery->doubtful && g_hash_table_contains(delivery->doubtful, GSIZE_TO_POINTER(recipient.offset));
    content_address(&delivery->content, &recipient);
    const char *domain = delivery_domain(&recipient, &length);
    const Transport *transport = routes_look(laws->routes, domain, length);
    if (!transport)
        transport = delivery->chosen;
    const Destination *destination = transport && delivery->places ? transport_place(transport, domain, length) : NULL;
    const Place *place = destination ? delivery_place(delivery, destination) : NULL;
    if (place && !doubt)
        return (Wait){.place = place};
    return (Wait){.law = transport && laws->varied ? transport_backoff(transport) : laws->standard, .doubt = doubt};
}

static bool same_wait(const Wait *one, const Wait *other)
{
    return one->law == other->law && one->place == other->place && one->doubt == other->doubt;
}

static void add_wait(GArray *all, const Wait *wait)
{
    for (guint i = 0; i < all->len; i++)
        if (same_wait(&g_array_index(all, Wait, i), wait))
            return;
    g_array_append_val(all, *wait);
}

GArray *waits_of(const Laws *laws, const Delivery *delivery)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(Wait));
    bool differ = laws->varied || delivery->places || delivery->doubtful;
    Recipient recipient;
    for (size_t offset = 0; differ && entry_next_recipient(delivery->entry, offset, &recipient);
         offset = recipient.next) {
        if (recipient.state != RECIPIENT_TODO)
            continue;
        Wait wait = wait_of(laws, delivery, recipient);
        add_wait(all, &wait);
    }
    if (all->len == 0)
        add_wait(all, &(Wait){.law = laws->standard});
    return all;
}

int64_t wait_due(const Wait *wait, const Delivery *delivery, int64_t now)
{
    if (wait->place)
        return MAX(wait->place->due, now);
    return now + backoff_delay(wait->law, now - entry_arrival(delivery->entry), g_random_double());
}

static const char *next_line(void *data, GError **error)
{
    (void)error;
    Walk *walk = data;
    Recipient recipient;
    while (entry_next_recipient(walk->delivery->entry, walk->offset, &recipient)) {
        walk->offset = recipient.next;
        if (recipient.state != RECIPIENT_TODO)
            continue;
        Wait wait = wait_of(walk->laws, walk->delivery, recipient);
        if (!same_wait(&wait, &walk->wanted))
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

void waits_keep(Draft *draft, const Laws *laws, const Delivery *delivery, const Wait *wait)
{
    Walk *walk = g_new0(Walk, 1);
    *walk = (Walk){.laws = laws, .wanted = *wait, .delivery = delivery, .line = g_string_new(NULL)};
    draft_set_recipients(draft, next_line, walk, walk_free);
}
