/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * By which back-off the deferred recipients of a delivery wait: that of the transport that each of them takes. When
 * they differ, each back-off gets an entry of its own, because an entry has one due time.
 */
#include <glib.h>

#include "runners/out/backoff.h"
#include "runners/out/delivery.h"
#include "runners/out/routes.h"
#include "switchboard/draft.h"

/* routes NULL: everybody waits by `standard`, as do those that have no transport. The back-offs, each once (of const
 * Backoff, borrowed; g_ptr_array_unref). */
GPtrArray *waits_of(const Routes *routes, const Backoff *standard, const Delivery *delivery);

/* Leaves those in the draft, made from the delivery's entry, that wait by this one. The delivery must outlive it. */
void waits_keep(Draft *draft, const Routes *routes, const Backoff *standard, const Delivery *delivery,
                const Backoff *backoff);
