/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/runner_seat.h"

#include "base/clock.h"
#include "base/log.h"
#include "lists/unit.h"

static bool keep(void *seat, GError **error)
{
    return seat_keep(seat, error);
}

bool runner_seat_open(Runner *runner, Seat *seat, bool comes_back, GError **error)
{
    *seat = (Seat){.config = runner_config(runner), .spool = runner_spool(runner), .deadline = STORE_DEADLINE_WORK,
                   .stays = !comes_back, .log = -1};
    if (!seat_keep(seat, error))
        return false;
    runner_sync_along(runner, seat->log);
    runner_need(runner, seat, seat_is_away, keep);
    return true;
}

bool runner_seat_settle(Runner *runner, const Seat *seat, GError **error)
{
    g_autoptr(GError) waits = NULL;
    if (!unit_settle_queue(seat->store, seat->spool, runner_queue(runner), &waits))
        log_warn("what a change left when it was cut short waits: %s", waits->message);
    return true;
}
