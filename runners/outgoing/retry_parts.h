/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Divide the recipients that a delivery leaves over by what they wait for: their transport's back-off, a destination,
 * or whether they are in doubt. An entry has one due time and one count of doubts, so each part becomes an entry of
 * retry.
 */
#include <glib.h>

#include "runners/outgoing/backoff.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/routes.h"
#include "switchboard/draft.h"

typedef struct RetryPart {
    const Backoff *law;  /* the back-off of their transport; NULL: they wait for place */
    const Place *place;  /* the destination that they wait for, and until when; NULL: none */
    bool doubt;          /* nobody knows whether they got it */
} RetryPart;

typedef struct RetryLaws {
    const Routes *routes;
    const Backoff *standard; /* the back-off of recipients without a transport */
    bool varied;             /* some transports have a back-off of their own */
} RetryLaws;

/* Return the parts (of RetryPart, whose pointers are borrowed; g_array_unref); there is at least one. */
GArray *retry_parts_of(const RetryLaws *laws, const Delivery *delivery);

/* Return where the mail of a recipient of the delivery goes, borrowed; NULL: that is not known. */
const Destination *retry_parts_destination(const RetryLaws *laws, const Delivery *delivery, const Recipient *recipient);

/* Return when the recipients of a part are tried again. */
int64_t retry_part_due(const RetryPart *part, const Delivery *delivery, int64_t now);

/* Reduce a draft that was made from the delivery's entry to the recipients of one part. The delivery must outlive the
 * draft. */
void retry_part_keep(Draft *draft, const RetryLaws *laws, const Delivery *delivery, const RetryPart *part);
