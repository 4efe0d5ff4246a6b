/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/delivery.h"

#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "lists/keys.h"

/* Bytes of a recipient line, for estimates as long as none was read. */
#define LINE_ESTIMATE 24

bool delivery_next(Delivery *delivery, Recipient *recipient)
{
    while (!delivery->exhausted && entry_next_recipient(delivery->entry, delivery->cursor, recipient)) {
        delivery->cursor = recipient->next;
        if (recipient->state != RECIPIENT_TODO)
            continue;
        content_address(&delivery->content, recipient);
        return true;
    }
    delivery->exhausted = true;
    return false;
}

const char *delivery_domain(const Recipient *recipient, size_t *length)
{
    const char *end = recipient->address + recipient->length;
    const char *at = memrchr(recipient->address, '@', recipient->length);
    const char *domain = at ? at + 1 : end;
    *length = (size_t)(end - domain);
    return domain;
}

/* As KEY_FAMILY says. */
static int family_of(Entry *entry)
{
    const char *word = meta_string(entry_meta(entry), KEY_FAMILY, "");
    return strcmp(word, "ipv4") == 0 ? AF_INET : strcmp(word, "ipv6") == 0 ? AF_INET6 : AF_UNSPEC;
}

Delivery *delivery_new(Entry *entry, unsigned source, const GPtrArray *keys, GError **error)
{
    Delivery *delivery = g_new0(Delivery, 1);
    if (!content_init(&delivery->content, entry, keys, error)) {
        content_clear(&delivery->content);
        g_free(delivery);
        return NULL;
    }
    delivery->entry = entry;
    delivery->source = source;
    delivery->family = family_of(entry);
    const char *at = strrchr(delivery->content.sender, '@');
    delivery->sender_domain = at ? at + 1 : "";
    delivery->favoured = meta_string(entry_meta(entry), KEY_PRIORITY, NULL) != NULL;
    delivery->claimed = clock_now();
    delivery->queued = clock_steady() - MAX(delivery->claimed - entry_arrival(entry), 0);
    delivery->held.data = delivery;
    delivery->jobs = g_ptr_array_new_with_free_func(g_free);
    delivery->doubts = (unsigned)CLAMP(meta_integer(entry_meta(entry), KEY_DOUBTS, 0), 0, G_MAXINT);
    return delivery;
}

static void leave_places(Delivery *delivery)
{
    for (guint i = 0; delivery->places && i < delivery->places->len; i++)
        g_array_index(delivery->places, Place, i).destination->holders--;
    g_clear_pointer(&delivery->places, g_array_unref);
}

void delivery_wait_for(Delivery *delivery, Destination *destination, int64_t due, bool tried)
{
    if (delivery->scattered)
        return;
    if (!delivery->places)
        delivery->places = g_array_new(FALSE, FALSE, sizeof(Place));
    for (guint i = 0; i < delivery->places->len; i++) {
        Place *place = &g_array_index(delivery->places, Place, i);
        if (place->destination != destination)
            continue;
        place->due = MAX(place->due, due);
        place->tried |= tried;
        return;
    }
    if (delivery->places->len == PLACES_MAX) {
        delivery->scattered = true;
        leave_places(delivery);
        return;
    }
    Place place = {destination, due, tried};
    g_array_append_val(delivery->places, place);
    destination->holders++;
}

const Place *delivery_place(const Delivery *delivery, const Destination *destination)
{
    for (guint i = 0; delivery->places && i < delivery->places->len; i++) {
        const Place *place = &g_array_index(delivery->places, Place, i);
        if (place->destination == destination)
            return place;
    }
    return NULL;
}

static void add_offset(GHashTable **set, size_t offset)
{
    if (!*set)
        *set = g_hash_table_new(NULL, NULL);
    g_hash_table_add(*set, GSIZE_TO_POINTER(offset));
}

void delivery_lost(Delivery *delivery, size_t offset, bool in_doubt)
{
    add_offset(&delivery->lost, offset);
    if (in_doubt)
        add_offset(&delivery->doubtful, offset);
}

void delivery_spare(Delivery *delivery, size_t offset)
{
    add_offset(&delivery->spared, offset);
}

bool delivery_spared(const Delivery *delivery, size_t offset)
{
    return delivery->spared && g_hash_table_contains(delivery->spared, GSIZE_TO_POINTER(offset));
}

bool delivery_blameless(const Delivery *delivery, size_t offset)
{
    return delivery->doubts > 0 ||
           (delivery->lost && g_hash_table_contains(delivery->lost, GSIZE_TO_POINTER(offset)));
}

void delivery_free(Delivery *delivery)
{
    if (!delivery)
        return;
    leave_places(delivery);
    g_clear_pointer(&delivery->lost, g_hash_table_unref);
    g_clear_pointer(&delivery->spared, g_hash_table_unref);
    g_clear_pointer(&delivery->doubtful, g_hash_table_unref);
    g_clear_pointer(&delivery->parts, g_array_unref);
    g_ptr_array_unref(delivery->jobs);
    content_clear(&delivery->content);
    entry_free(delivery->entry);
    g_free(delivery->last_reply);
    g_free(delivery->halted_status);
    g_free(delivery->halted_text);
    g_free(delivery->halted_reply);
    g_free(delivery);
}

bool delivery_over(const Delivery *delivery)
{
    return (delivery->exhausted || delivery->withdrawn) && delivery->batches == 0;
}

size_t delivery_unread(const Delivery *delivery)
{
    if (delivery->exhausted || delivery->withdrawn)
        return 0;
    size_t line = delivery->read > 0 ? MAX(delivery->cursor / delivery->read, 5) : LINE_ESTIMATE;
    return (entry_recipients_length(delivery->entry) - delivery->cursor) / line + 1;
}
