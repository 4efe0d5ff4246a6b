/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/units.h"

#include "base/log.h"
#include "lists/hosts/this_host.h"
#include "lists/outbox_old.h"
#include "lists/unit.h"

bool units_start(Runner *runner, Store *store, GError **error)
{
    Spool *spool = runner_spool(runner);
    const char *queue = runner_queue(runner);
    g_autoptr(GError) waits = NULL;
    if (!this_host_check(store, spool, runner_config(runner), error))
        return false;
    if (!outbox_old_sort(store, spool, queue, error))
        return false;
    if (!unit_settle_queue(store, spool, queue, &waits) || !outbox_old_store(store, spool, queue, &waits))
        log_warn("what a change left when it was cut short waits: %s", waits->message);
    return true;
}
