/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/reader.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "runners/outgoing/delivery.h"

/* --- the transport of a domain --------------------------------------------- */

#define DOMAIN_MAX 255

struct Routes {
    GHashTable *table; /* "example.com" or ".example.com" -> transport */
};

Routes *routes_new(const Config *config, const GPtrArray *transports)
{
    Routes *routes = g_new0(Routes, 1);
    routes->table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (const char *const *word = config_list(config, "out", "transport_table"); word && *word; word++) {
        const char *colon = strrchr(*word, ':');
        g_autofree char *pattern = g_strndup(*word, (size_t)(colon - *word));
        g_hash_table_replace(routes->table, g_ascii_strdown(pattern, -1), transport_named(transports, colon + 1));
    }
    return routes;
}

void routes_free(Routes *routes)
{
    if (!routes)
        return;
    g_hash_table_unref(routes->table);
    g_free(routes);
}

Transport *routes_look(const Routes *routes, const char *domain, size_t length)
{
    char name[DOMAIN_MAX + 1];
    if (!routes || length > DOMAIN_MAX || g_hash_table_size(routes->table) == 0)
        return NULL;
    for (size_t i = 0; i < length; i++)
        name[i] = g_ascii_tolower(domain[i]);
    name[length] = '\0';
    Transport *transport = g_hash_table_lookup(routes->table, name);
    for (const char *at = strchr(name, '.'); at && !transport; at = strchr(at + 1, '.'))
        transport = g_hash_table_lookup(routes->table, at);
    return transport;
}

/* --- how many recipients are in memory ------------------------------------- */

size_t pool_may_read(const Pool *pool, const PoolView *view, int64_t now)
{
    if (!view->begun)
        return MIN(MAX(pool->limit > pool->in_core ? pool->limit - pool->in_core : 0, pool->minimum), POOL_READ_MAX);
    /* The places of others count whole: only those that nobody uses are free. */
    size_t others = pool->in_core - MIN(view->in_core, pool->in_core);
    size_t most = pool->minimum + view->extra;
    if (view->first && pool->limit > others)
        most += pool->limit - others;
    size_t unused = most > view->in_core ? most - view->in_core : 0;
    bool wanted = unused >= pool->refill_limit || !view->waits || now - view->last_read >= pool->refill_delay;
    return wanted ? MIN(unused, POOL_READ_MAX) : 0;
}

size_t pool_give_extra(const Pool *pool)
{
    return pool->extra > pool->extra_taken ? (pool->extra - pool->extra_taken) / 2 : 0;
}

/* --- reading --------------------------------------------------------------- */

/* Recipients read in one turn of the loop. */
#define READ_BUDGET (2 * POOL_READ_MAX)
/* Bytes of a recipient line, for estimates as long as none was read. */
#define LINE_ESTIMATE 24

/* A recipient on its way into a batch. */
typedef struct Sorted {
    Recipient recipient;
    Nexthop *nexthop;
} Sorted;

void reader_init(Reader *reader, const Config *config)
{
    g_queue_init(&reader->unread);
    g_queue_init(&reader->hungry);
    reader->scratch = g_array_new(FALSE, FALSE, sizeof(Sorted));
    reader->pool = (Pool){
        .limit = (size_t)config_integer(config, "out", "recipient_limit"),
        .extra = (size_t)config_integer(config, "out", "extra_recipient_limit"),
        .minimum = (size_t)config_integer(config, "out", "message_recipient_minimum"),
        .refill_limit = (size_t)config_integer(config, "out", "recipient_refill_limit"),
        .refill_delay = config_duration(config, "out", "recipient_refill_delay"),
    };
}

static int compare_sorted(const void *a, const void *b)
{
    const Sorted *one = a;
    const Sorted *other = b;
    if (one->nexthop != other->nexthop)
        return (uintptr_t)one->nexthop < (uintptr_t)other->nexthop ? -1 : 1;
    return one->recipient.offset < other->recipient.offset ? -1 : one->recipient.offset > other->recipient.offset;
}

/* Up to most recipients, sorted by next hop. */
static void gather(Reader *reader, Delivery *delivery, size_t most)
{
    static const char no_transport[] = "its transport is not configured";
    Sorted sorted;
    bool mixed = false;
    size_t lost = 0, length;
    g_array_set_size(reader->scratch, 0);
    while (reader->scratch->len < most && delivery_next(delivery, &sorted.recipient)) {
        const char *domain = delivery_domain(&sorted.recipient, &length);
        Transport *transport = routes_look(reader->routes, domain, length);
        if (!transport)
            transport = delivery->chosen;
        if (!transport) { /* the one that its list chose is gone */
            lost++;
            continue;
        }
        sorted.nexthop = transport_nexthop(transport, domain, length, delivery->sender_domain);
        g_array_append_val(reader->scratch, sorted);
        mixed |= sorted.nexthop != g_array_index(reader->scratch, Sorted, 0).nexthop;
    }
    if (lost > 0) { /* nothing can be tried for these now */
        delivery->deferred += lost;
        g_free(delivery->last_reply);
        delivery->last_reply = g_strdup(no_transport);
        report_deferral(delivery, lost, no_transport);
    }
    if (mixed)
        qsort(reader->scratch->data, reader->scratch->len, sizeof(Sorted), compare_sorted);
    Recipient next;
    size_t cursor = delivery->cursor;
    if (!delivery->exhausted && delivery_next(delivery, &next))
        delivery->cursor = cursor;
}

/* The most recipients of one transaction. */
static size_t most_together(const Delivery *delivery, const Transport *transport)
{
    bool alone = delivery->content.plan || delivery->doubts > 0;
    return alone ? 1 : transport->per_transaction;
}

/* Some recipients of one next hop: into the open batch, then into new ones. */
static void make_batches(Reader *reader, Delivery *delivery, const Sorted *first, size_t count)
{
    Nexthop *nexthop = first->nexthop;
    Transport *transport = nexthop->transport;
    size_t most = most_together(delivery, transport);
    Job *job = NULL;
    for (guint i = 0; i < delivery->jobs->len && !job; i++)
        if (((Job *)delivery->jobs->pdata[i])->transport == transport)
            job = delivery->jobs->pdata[i];
    if (!job) {
        job = g_new0(Job, 1);
        job->favoured = delivery->favoured;
        job->transport = transport;
        g_ptr_array_add(delivery->jobs, job);
    }
    if (!job->scheduler)
        scheduler_add_job(&transport->scheduler, job, delivery, delivery->queued);
    Batch *batch = scheduler_open_batch(job, nexthop->destination);
    delivery->in_core += count;
    delivery->read += count;
    reader->pool.in_core += count;
    if (batch && batch->nexthop == nexthop)
        for (; count > 0 && batch->count < batch->room; first++, count--) {
            batch_add(batch, &first->recipient);
            nexthop->destination->waiting_recipients++;
        }
    while (count > 0) {
        size_t part = MIN(count, most);
        batch = batch_new(delivery, nexthop, delivery->exhausted ? part : most);
        batch->job = job;
        batch->careful = delivery->doubts > 0;
        for (size_t i = 0; i < part; i++)
            batch_add(batch, &first[i].recipient);
        delivery->batches++;
        transport_accept(transport, job, batch, true);
        first += part;
        count -= part;
    }
}

/* It may want more: a batch of it has gone. */
static void note_hunger(Reader *reader, Delivery *delivery)
{
    if (!delivery->listed || delivery->hungry)
        return;
    delivery->hungry = true;
    g_queue_push_tail_link(&reader->hungry, &delivery->hunger);
}

/* The delivery is held meanwhile: batches that are refused at once come back from within. */
static void read_some(Reader *reader, Delivery *delivery, size_t most)
{
    delivery->last_read = clock_steady();
    delivery->batches++;
    gather(reader, delivery, most);
    const Sorted *all = (const Sorted *)(void *)reader->scratch->data;
    for (size_t first = 0, end; first < reader->scratch->len; first = end) {
        for (end = first + 1; end < reader->scratch->len && all[end].nexthop == all[first].nexthop;)
            end++;
        make_batches(reader, delivery, &all[first], end - first);
    }
    /* How many batches the unread rest may come to is for the scheduler, which compares sizes. The number of unread
     * recipients is estimated from the length of their lines. */
    size_t unread = 0;
    if (!delivery->exhausted && !delivery->withdrawn) {
        size_t line = delivery->read > 0 ? MAX(delivery->cursor / delivery->read, 5) : LINE_ESTIMATE;
        unread = (entry_recipients_length(delivery->entry) - delivery->cursor) / line + 1;
    }
    for (guint i = 0; i < delivery->jobs->len; i++) {
        Job *job = delivery->jobs->pdata[i];
        size_t together = job->transport->relay ? most_together(delivery, job->transport) : 1;
        job->unread = (unread + together - 1) / together;
        if (job->scheduler && unread == 0 && g_queue_is_empty(&job->peers)) /* nothing left, and nothing to come */
            scheduler_retire(job);
    }
    if (delivery->exhausted)
        reader_forget(reader, delivery);
    else if (reader->scratch->len == 0) /* none of them can be sent: no batch will come back and ask for more */
        note_hunger(reader, delivery);
    delivery->batches--;
}

static PoolView view_of(const Reader *reader, const Delivery *delivery)
{
    bool waits = false;
    for (guint i = 0; i < delivery->jobs->len; i++)
        waits |= !g_queue_is_empty(&((Job *)delivery->jobs->pdata[i])->peers);
    return (PoolView){.in_core = delivery->in_core, .extra = delivery->slots,
                      .first = reader->unread.head == &delivery->reading, .waits = waits,
                      .begun = delivery->last_read > 0, .last_read = delivery->last_read};
}

void reader_begin(Reader *reader, Delivery *delivery)
{
    delivery->reading.data = delivery;
    delivery->hunger.data = delivery;
    g_queue_push_tail_link(&reader->unread, &delivery->reading);
    delivery->listed = true;
    PoolView view = view_of(reader, delivery);
    read_some(reader, delivery, pool_may_read(&reader->pool, &view, clock_steady()));
}

void reader_ended(Reader *reader, const Batch *batch)
{
    Delivery *delivery = batch->delivery;
    delivery->batches--;
    delivery->in_core -= batch->count;
    reader->pool.in_core -= batch->count;
    note_hunger(reader, delivery);
}

void reader_forget(Reader *reader, Delivery *delivery)
{
    if (delivery->hungry)
        g_queue_unlink(&reader->hungry, &delivery->hunger);
    delivery->hungry = false;
    if (!delivery->listed)
        return;
    delivery->listed = false;
    g_queue_unlink(&reader->unread, &delivery->reading);
    reader->pool.extra_taken -= delivery->slots;
    delivery->slots = 0;
}

void reader_refill(Reader *reader, void (*over)(void *data, Delivery *delivery), void *data)
{
    size_t budget = READ_BUDGET;
    if (reader->unread.head)
        note_hunger(reader, reader->unread.head->data);
    while (budget > 0 && reader->hungry.head) {
        Delivery *delivery = reader->hungry.head->data;
        g_queue_unlink(&reader->hungry, &delivery->hunger);
        delivery->hungry = false;
        bool preempts = false;
        for (guint i = 0; i < delivery->jobs->len; i++)
            preempts |= ((const Job *)delivery->jobs->pdata[i])->level > 0;
        if (preempts && delivery->slots == 0) { /* it gets something of its own to read into */
            delivery->slots = pool_give_extra(&reader->pool);
            reader->pool.extra_taken += delivery->slots;
        }
        PoolView view = view_of(reader, delivery);
        size_t most = pool_may_read(&reader->pool, &view, clock_steady());
        if (most > 0)
            read_some(reader, delivery, most);
        budget -= MIN(most, budget);
        if (delivery_over(delivery))
            over(data, delivery);
    }
}

int64_t reader_wait(const Reader *reader)
{
    if (reader->hungry.head)
        return 0;
    if (!reader->unread.head)
        return -1;
    const Delivery *first = reader->unread.head->data;
    PoolView view = view_of(reader, first);
    int64_t until = first->last_read + reader->pool.refill_delay;
    if (pool_may_read(&reader->pool, &view, until) == 0)
        return -1;
    int64_t left = until - clock_steady(); /* MAX would look at the clock twice */
    return MAX(left, 0);
}
