/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Give a queue runner its seat at the database (lists/hosts/seat.h): the frame (runners/runner.h) keeps it before each
 * batch, waits while the database's server is away, and syncs the log of its commits with each batch. */
#include <glib.h>
#include <stdbool.h>

#include "lists/hosts/seat.h"
#include "runners/runner.h"

/* Open a seat that stays, or with comes_back one that opens another database when its own was replaced. Call it from
 * start(); *seat is zero before, and seat_leave() follows in stop() in any case. It fails as seat_keep() does. */
bool runner_seat_open(Runner *runner, Seat *seat, bool comes_back, GError **error);

/* Settle the entries that interrupted changes left in the runner's own queue (lists/unit.h). Call it from start(). A
 * unit that cannot be settled now is logged and waits for the timer. */
bool runner_seat_settle(Runner *runner, const Seat *seat, GError **error);
