/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/retry_parts.h"

#include "base/clock.h"
#include "runners/outgoing/transport.h"

/* Walks the recipients of one part. */
typedef struct RetryWalk {
    const RetryLaws *laws;
    RetryPart wanted;
    const Delivery *delivery;
    size_t offset;
    GString *line;
} RetryWalk;

/* Set *destination to where the mail of a recipient goes; NULL: that is not known. Return its transport; NULL: it has
 * none. */
static const Transport *route(const RetryLaws *laws, const Delivery *delivery, Recipient recipient,
                              const Destination **destination)
{
    size_t length;
    content_address(&delivery->content, &recipient);
    const char *domain = delivery_domain(&recipient, &length);
    const Transport *transport = routes_look(laws->routes, domain, length);
    if (!transport)
        transport = delivery->chosen;
    *destination = transport ? transport_place(transport, domain, length, delivery->family, delivery->sender_domain)
                             : NULL;
    return transport;
}

static RetryPart part_of(const RetryLaws *laws, const Delivery *delivery, Recipient recipient)
{
    bool doubt = delivery->doubtful && g_hash_table_contains(delivery->doubtful, GSIZE_TO_POINTER(recipient.offset));
    const Destination *destination;
    const Transport *transport = route(laws, delivery, recipient, &destination);
    const Place *place = destination ? delivery_place(delivery, destination) : NULL;
    if (place && !doubt)
        return (RetryPart){.place = place};
    const Backoff *law = transport && laws->varied ? transport_backoff(transport) : laws->standard;
    return (RetryPart){.law = law, .doubt = doubt};
}

const Destination *retry_parts_destination(const RetryLaws *laws, const Delivery *delivery, const Recipient *recipient)
{
    const Destination *destination;
    route(laws, delivery, *recipient, &destination);
    return destination;
}

static bool same_part(const RetryPart *one, const RetryPart *other)
{
    return one->law == other->law && one->place == other->place && one->doubt == other->doubt;
}

static void add_part(GArray *all, const RetryPart *part)
{
    for (guint i = 0; i < all->len; i++)
        if (same_part(&g_array_index(all, RetryPart, i), part))
            return;
    g_array_append_val(all, *part);
}

GArray *retry_parts_of(const RetryLaws *laws, const Delivery *delivery)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(RetryPart));
    bool differ = laws->varied || delivery->places || delivery->doubtful;
    Recipient recipient;
    for (size_t offset = 0; differ && entry_next_recipient(delivery->entry, offset, &recipient);
         offset = recipient.next) {
        if (recipient.state != RECIPIENT_TODO)
            continue;
        RetryPart part = part_of(laws, delivery, recipient);
        add_part(all, &part);
    }
    if (all->len == 0)
        add_part(all, &(RetryPart){.law = laws->standard});
    return all;
}

int64_t retry_part_due(const RetryPart *part, const Delivery *delivery, int64_t now)
{
    if (part->place)
        return MAX(part->place->due, now);
    return now + backoff_delay(part->law, now - entry_arrival(delivery->entry), g_random_double());
}

static const char *next_line(void *data, GError **error)
{
    (void)error;
    RetryWalk *walk = data;
    Recipient recipient;
    while (entry_next_recipient(walk->delivery->entry, walk->offset, &recipient)) {
        walk->offset = recipient.next;
        if (recipient.state != RECIPIENT_TODO)
            continue;
        RetryPart part = part_of(walk->laws, walk->delivery, recipient);
        if (!same_part(&part, &walk->wanted))
            continue;
        g_string_truncate(walk->line, 0);
        g_string_append_len(walk->line, recipient.address, (gssize)recipient.length);
        return walk->line->str;
    }
    return NULL;
}

static void walk_free(gpointer data)
{
    RetryWalk *walk = data;
    g_string_free(walk->line, TRUE);
    g_free(walk);
}

void retry_part_keep(Draft *draft, const RetryLaws *laws, const Delivery *delivery, const RetryPart *part)
{
    RetryWalk *walk = g_new0(RetryWalk, 1);
    *walk = (RetryWalk){.laws = laws, .wanted = *part, .delivery = delivery, .line = g_string_new(NULL)};
    draft_set_recipients(draft, next_line, walk, walk_free);
}
