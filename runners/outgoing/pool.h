/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide how many recipients of a delivery may be in memory, and when more are read. Each delivery may have `minimum`
 * recipients in memory, even beyond `limit`. The first delivery in order of claiming that has unread recipients may
 * have all that is free of `limit` as well. At its first read any delivery may take all that is free of `limit`, or
 * `minimum` if that is more. A delivery that preempts another gets half of what is left of `extra` besides.
 *
 * A delivery reads more when refill_limit of its places are free, or when nothing of it waits. It reads more also when
 * any place is free and refill_delay has passed. One read takes at most POOL_READ_MAX, so that the loop comes round.
 * The functions change nothing: the caller counts.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_READ_MAX 5000

typedef struct Pool {
    size_t limit, extra, minimum, refill_limit;
    int64_t refill_delay; /* us */
    size_t in_core;       /* recipients of all deliveries */
    size_t extra_taken;
} Pool;

/* PoolView holds the facts about one delivery that the pool needs. */
typedef struct PoolView {
    size_t in_core;  /* its recipients in memory */
    size_t extra;    /* given to it for preempting */
    bool first;      /* the first that has unread ones */
    bool waits;      /* something of it waits to be sent */
    bool begun;      /* it has read before */
    int64_t last_read;
} PoolView;

/* Return how many recipients a delivery may read now; 0: none. */
size_t pool_may_read(const Pool *pool, const PoolView *view, int64_t now);

/* Return the part of the extra that a delivery which preempts is given; the caller counts it in extra_taken until that
 * ends. */
size_t pool_give_extra(const Pool *pool);
