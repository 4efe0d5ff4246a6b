/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell the list's owners, who can do something about it, what became of a post: a report (RFC 3464) that it has not
 * been delivered yet and is still tried, once for an entry, when it has waited for `delay_warning_time`; and one that
 * it was given up because the transactions broke off. There are none for reports and other mail that has no sender.
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

/* Is it time for it? */
bool warning_due(const Warning *warning, const Delivery *delivery, int64_t now);

/* Return the report of a delay, for the queue in. */
Draft *warning_draft(const Warning *warning, const Delivery *delivery, int64_t now);
/* Return the report, for the queue in, that nothing is sent any more to the recipients whose transactions broke off;
 * NULL when there are none among those left. */
Draft *warning_given_up(const Warning *warning, const Delivery *delivery, int64_t now);
