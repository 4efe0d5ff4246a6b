/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the recipients of deliveries into memory within the limits (pool.h), sort them by next hop, and make batches of
 * them. A recipient that is read later joins the last batch of its next hop, while that has room and has not gone out.
 */
#include <glib.h>

#include "runners/outgoing/delivery.h"
#include "runners/outgoing/pool.h"
#include "runners/outgoing/routes.h"
#include "runners/outgoing/transport.h"

typedef struct Reader {
    Pool pool;
    Routes *routes;  /* borrowed */
    GQueue unread;   /* of Delivery: with unread recipients, oldest first */
    GQueue hungry;   /* of Delivery: may need more recipients in memory */
    GArray *scratch;
} Reader;

void reader_init(Reader *reader, const Config *config);
void reader_clear(Reader *reader);

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
