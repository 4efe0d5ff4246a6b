/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A report that mail has not been delivered yet and is still tried (RFC 3464,
 * Action: delayed), to the list's owners: those who can do something about it. Once for
 * an entry, when it has waited for `delay_warning_time`; none for reports and
 * other mail that has no sender.
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

/* The report, for the queue in. */
Draft *warning_draft(const Warning *warning, const Delivery *delivery, int64_t now);
