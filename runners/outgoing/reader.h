/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the recipients of deliveries into memory within the limits of a pool, sort them by next hop, and make batches of
 * them. A recipient that is read later joins the last batch of its next hop, while that has room and has not gone out.
 *
 * Decide how many recipients of a delivery may be in memory, and when more are read. Each delivery may have `minimum`
 * recipients in memory, even beyond `limit`. The first delivery in order of claiming that has unread recipients may
 * have all that is free of `limit` as well. At its first read any delivery may take all that is free of `limit`, or
 * `minimum` if that is more. A delivery that preempts another gets half of what is left of `extra` besides.
 *
 * A delivery reads more when refill_limit of its places are free, or when nothing of it waits. It reads more also when
 * any place is free and refill_delay has passed. One read takes at most POOL_READ_MAX, so that the loop comes round.
 * The functions change nothing: the caller counts.
 *
 * Find the transport that mail to a recipient's domain takes, in the table of the setting [out] transport_table. The
 * table is searched for the domain "a.sub.domain" itself, then for ".sub.domain", ".domain" and so on upward. An entry
 * with a leading dot does not match the domain of that name itself. For a domain that the table lacks, the caller takes
 * the transport that the list has chosen, else the default one.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/transport.h"

#define POOL_READ_MAX 5000

typedef struct Pool {
    size_t limit, extra, minimum, refill_limit;
    int64_t refill_delay; /* us */
    size_t in_core;       /* recipients of all deliveries */
    size_t extra_taken;
} Pool;

/* PoolView holds the facts about one delivery that the pool needs. */
typedef struct PoolView {
    size_t in_core;  /* its recipients in memory */
    size_t extra;    /* given to it for preempting */
    bool first;      /* the first that has unread ones */
    bool waits;      /* something of it waits to be sent */
    bool begun;      /* it has read before */
    int64_t last_read;
} PoolView;

/* Return how many recipients a delivery may read now; 0: none. */
size_t pool_may_read(const Pool *pool, const PoolView *view, int64_t now);

/* Return the part of the extra that a delivery which preempts is given; the caller counts it in extra_taken until that
 * ends. */
size_t pool_give_extra(const Pool *pool);

typedef struct Routes Routes;

/* Read the table from the configuration; transports (of Transport) outlive it. */
Routes *routes_new(const Config *config, const GPtrArray *transports);
void routes_free(Routes *routes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Routes, routes_free)

/* Return the transport of a domain, which is not NUL-terminated and of any case. NULL: it is not in the table, or
 * routes is NULL. */
Transport *routes_look(const Routes *routes, const char *domain, size_t length);

typedef struct Reader {
    Pool pool;
    Routes *routes;  /* borrowed */
    GQueue unread;   /* of Delivery: with unread recipients, oldest first */
    GQueue hungry;   /* of Delivery: may need more recipients in memory */
    GArray *scratch; /* freed by the owner */
} Reader;

void reader_init(Reader *reader, const Config *config);

/* Take in a new delivery, and read its first recipients. Set delivery->chosen before. */
void reader_begin(Reader *reader, Delivery *delivery);

/* Take note that a batch has ended or was withdrawn: its recipients leave memory, and the delivery may need more. */
void reader_ended(Reader *reader, const Batch *batch);

/* Read no more of this delivery. */
void reader_forget(Reader *reader, Delivery *delivery);

/* Read recipients for the deliveries that may need more, and for the oldest one with unread recipients. Stop where the
 * limits do not allow more, and after as long as one turn of the loop may take. Call over for each delivery that has
 * nothing left to send after it was looked at. */
void reader_refill(Reader *reader, void (*over)(void *data, Delivery *delivery), void *data);
/* Return in how many microseconds to call reader_refill() again even if nothing happens; -1: only when something
 * does. */
int64_t reader_wait(const Reader *reader);
