/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make reports (RFC 3464) to a list's owners about a post that cannot be delivered. One says that the post is late and
 * is still tried: once for an entry, when it has waited for `delay_warning_time`. The other says that delivery was
 * given up to recipients whose connection was lost each time. Reports and other mail without a sender cause none.
 */
#include <stdbool.h>
#include <stdint.h>

#include "runners/outgoing/delivery.h"
#include "switchboard/draft.h"

typedef struct Warning {
    const char *host;      /* our name */
    int64_t after_us;      /* 0: there are none */
    int64_t lifetime_us;   /* how long delivery is tried */
} Warning;

/* Return true when the report of a delay is due, and was not made for this entry before. */
bool warning_due(const Warning *warning, const Delivery *delivery, int64_t now);

/* Return the report of a delay, for the queue in. */
Draft *warning_draft(const Warning *warning, const Delivery *delivery, int64_t now);
/* Return the report, for the queue in, that delivery was given up to recipients who failed only by lost connections
 * (delivery_blameless()). held: set of offsets of recipients who wait on all the same; NULL: nobody does. NULL: there
 * are no such recipients left, or the mail is no post. */
Draft *warning_given_up(const Warning *warning, const Delivery *delivery, GHashTable *held, int64_t now);
