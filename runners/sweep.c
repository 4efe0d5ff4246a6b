/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/sweep.h"

#include <inttypes.h>

#include "base/contract.h"
#include "base/log.h"

void sweep_slice(Queue *queue, Slice slice, int64_t age_us)
{
    unsigned swept = 0;
    g_autoptr(GError) error = NULL;
    if (!recover_sweep(queue, slice, age_us, &swept, &error))
        log_warn("sweep: %s", error->message);
    else if (swept > 0)
        log_info("queue %s: removed %u abandoned files older than %" PRId64 " s", queue_name(queue), swept,
                 age_us / CLOCK_SECOND);
    RecoverReport report = {0};
    g_autoptr(GError) unfound = NULL;
    if (recover_slice(queue, slice, true, &report, &unfound))
        return;
    /* Children that were just taken back may come back in a power cut, or are still there: no work may begin on their
     * parent before a start has looked for them, and synced. */
    if (report.unsettled)
        log_fatal(CHILD_EXIT_LATER, "%s", unfound->message);
    log_warn("%s", unfound->message);
}

void sweep_intake(Queue *queue, Slice slice)
{
    unsigned completed = 0;
    g_autoptr(GError) error = NULL;
    if (!recover_intake(queue, slice, RECOVER_INTAKE_INTERVAL, &completed, &error))
        log_warn("queue %s: intake that was not ended: %s", queue_name(queue), error->message);
    else if (completed > 0)
        log_info("queue %s: took in %u entries whose intake ended before it had published them", queue_name(queue),
                 completed);
}
