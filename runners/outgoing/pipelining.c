/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/pipelining.h"

#include <glib.h>

void pipelining_observe(Pipelining *pipelining, int64_t took, int64_t now)
{
    took = MAX(took, 1);
    if (now - pipelining->span >= PIPELINING_SPAN || now < pipelining->span) {
        pipelining->before = pipelining->least;
        pipelining->least = took;
        pipelining->span = now;
    } else {
        pipelining->least = MIN(pipelining->least, took);
    }
}

unsigned pipelining_most(const Pipelining *pipelining, unsigned wanted, int64_t now)
{
    if (now < pipelining->pause_until || (!pipelining->proven && pipelining->out > 0))
        return 1;
    if (wanted > 0)
        return wanted;
    return MIN(pipelining->before, pipelining->least) > PIPELINING_SLOW ? PIPELINING_DEFAULT : 1;
}

void pipelining_begin(Pipelining *pipelining)
{
    pipelining->out++;
}

void pipelining_end(Pipelining *pipelining, bool whole, int64_t now)
{
    g_assert(pipelining->out > 0);
    pipelining->out--;
    pipelining->proven = whole && now >= pipelining->pause_until;
    if (!whole)
        pipelining->pause_until = now + PIPELINING_PAUSE;
}
