/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write the lines of the log about deliveries. Each group of recipients that met the same fate in one transaction gets
 * one line, in the words operators know:
 *
 *   TRACE list=L queue=out to=<a@example.com> relay=H[A]:25 conn_use=2 delay=1.2
 *       delays=0.8/0.1/0.1/0.2 dsn=2.0.0 status=sent (250 2.0.0 Ok)
 *
 * A group of several recipients has nrcpt=N in place of to=. The four delays are, in seconds: from the mail's arrival
 * to the claim of its entry, from there to this transaction, for the connection, for the transmission; "delay" is the
 * whole.
 */
#include <stdbool.h>

#include "runners/outgoing/delivery.h"

/* Write the lines of a batch that has come back with its fates. every_recipient: each recipient gets a line of its
 * own. The addresses of all recipients are written into the trail (base/trail/trail.h) in either case. */
void report_batch(const Batch *batch, bool every_recipient);

/* Write one line for this number of recipients that are put off untried, because no connection can be had. */
void report_deferral(const Delivery *delivery, size_t recipients, const char *reason);

/* Write the last line of an attempt: the numbers of recipients sent, bounced and deferred, its result, and as `to` the
 * queue that the entry went to, "-" when it ended. */
void report_end(const Delivery *delivery, const char *to, const char *result);
