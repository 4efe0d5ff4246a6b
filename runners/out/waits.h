/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * For what the recipients wait that a delivery leaves over. An entry has one due time and one count of doubts; so those
 * who wait for different things become different entries.
 */
#include <glib.h>

#include "runners/out/backoff.h"
#include "runners/out/delivery.h"
#include "runners/out/routes.h"
#include "switchboard/draft.h"

typedef struct Wait {
    const Backoff *law;  /* of their transport; NULL: they wait for place */
    const Place *place;  /* a destination */
    bool doubt;          /* nobody knows whether they got it */
} Wait;

typedef struct Laws {
    const Routes *routes;
    const Backoff *standard; /* of those that have no transport */
    bool varied;             /* some transports have a law of their own */
} Laws;

/* Each once (of Wait, whose pointers are borrowed; g_array_unref). */
GArray *waits_of(const Laws *laws, const Delivery *delivery);

/* When those are tried again. */
int64_t wait_due(const Wait *wait, const Delivery *delivery, int64_t now);

/* Leaves those in the draft, made from the delivery's entry, that wait so. The delivery must outlive it. */
void waits_keep(Draft *draft, const Laws *laws, const Delivery *delivery, const Wait *wait);
