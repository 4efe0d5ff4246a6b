/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/clog.h"

#include "base/clock.h"
#include "base/log.h"
#include "runners/outgoing/transport.h"

#define SHARE 5
/* All destinations are gone through, and there may be many. */
#define INTERVAL (CLOCK_SECOND / 2)

void clog_look(Clog *clog, const GPtrArray *transports, size_t held)
{
    int64_t now = clock_monotonic();
    if (clog->every_us == 0 || held <= clog->entries_max / SHARE || now < clog->look_at)
        return;
    clog->look_at = now + MIN(INTERVAL, clog->every_us);
    for (guint i = 0; i < transports->len; i++) {
        g_autoptr(GPtrArray) all = transport_destinations(transports->pdata[i]);
        for (guint j = 0; j < all->len; j++) {
            Destination *destination = all->pdata[j];
            size_t entries = destination->queue.peers ? (size_t)g_sequence_get_length(destination->queue.peers) : 0;
            bool told = destination->clog_told > 0 && now - destination->clog_told < clog->every_us;
            if (entries <= clog->entries_max / SHARE || told)
                continue;
            destination->clog_told = now;
            log_warn("transport %s: mail for destination %s (%s, %u of %u transactions under way) takes up %zu of %zu "
                     "active entries, other mail may have to wait; such domains can have a transport of their own "
                     "(transport_table), a shorter connect_timeout, or a higher concurrency",
                     transport_name(transports->pdata[i]), destination->name,
                     destination_state(destination, clock_steady()), destination->busy, destination->window.size,
                     entries, clog->entries_max);
        }
    }
}
