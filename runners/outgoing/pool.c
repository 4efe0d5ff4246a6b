/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/pool.h"

#include <glib.h>

/* Places that it has in all. What others hold counts whole: what is free is what nobody uses. */
static size_t places(const Pool *pool, const PoolView *view)
{
    size_t others = pool->in_core - MIN(view->in_core, pool->in_core);
    size_t most = pool->minimum + view->extra;
    if (view->first && pool->limit > others)
        most += pool->limit - others;
    return most;
}

size_t pool_may_read(const Pool *pool, const PoolView *view, int64_t now)
{
    if (!view->begun)
        return MIN(MAX(pool->limit > pool->in_core ? pool->limit - pool->in_core : 0, pool->minimum), POOL_READ_MAX);
    size_t most = places(pool, view);
    size_t unused = most > view->in_core ? most - view->in_core : 0;
    bool wanted = unused >= pool->refill_limit || !view->waits || now - view->last_read >= pool->refill_delay;
    return wanted ? MIN(unused, POOL_READ_MAX) : 0;
}

size_t pool_give_extra(const Pool *pool)
{
    return pool->extra > pool->extra_taken ? (pool->extra - pool->extra_taken) / 2 : 0;
}
