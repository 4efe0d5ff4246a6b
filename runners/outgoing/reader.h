/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Reads recipients of deliveries into memory, within the limits (pool.h), sorts them by next hop and makes batches of
 * them. Recipients of a next hop that join later go into its last batch as long as that has room and has not gone.
 */
#include <glib.h>

#include "runners/outgoing/delivery.h"
#include "runners/outgoing/pool.h"
#include "runners/outgoing/routes.h"
#include "runners/outgoing/transport.h"

typedef struct Reader {
    Pool pool;
    Routes *routes;  /* borrowed */
    GQueue unread;   /* of Delivery: those with unread recipients, oldest first */
    GQueue hungry;   /* of Delivery: may want more */
    GArray *scratch;
} Reader;

void reader_init(Reader *reader, const Config *config);
void reader_clear(Reader *reader);

/* The delivery's first read; delivery->chosen is set. */
void reader_begin(Reader *reader, Delivery *delivery);

/* A batch of the delivery has come to its end, or is withdrawn. */
void reader_ended(Reader *reader, const Batch *batch);

/* No more of this delivery is read. */
void reader_forget(Reader *reader, Delivery *delivery);

/* Reads for those that may want more and for the oldest with unread recipients, as the limits allow, and no more than a
 * turn of the loop bears. over is called for those that came to their end by it. */
void reader_refill(Reader *reader, void (*over)(void *data, Delivery *delivery), void *data);
/* When to look again though nothing happens (us from now); -1: never. */
int64_t reader_wait(const Reader *reader);
