/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write what the log says of deliveries: a line for each group of recipients of one transaction that met the same fate,
 * in the words operators know:
 *
 *   TRACE list=L queue=out to=<a@example.com> relay=H[A]:25 conn_use=2 delay=1.2
 *       delays=0.8/0.1/0.1/0.2 dsn=2.0.0 status=sent (250 2.0.0 Ok)
 *
 * A group of several has nrcpt=N in place of to=, unless every recipient is asked for.
 * The delays are: arrival to claim, claim to this transaction, connection, transmission.
 */
#include <stdbool.h>

#include "runners/outgoing/delivery.h"

void report_batch(const Batch *batch, bool every_recipient);

/* Recipients that were not tried, because no connection can be had. */
void report_deferral(const Delivery *delivery, size_t recipients, const char *reason);

/* The line of the hop: where the entry went, "-" when it ended. */
void report_end(const Delivery *delivery, const char *to, const char *result);
