/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * How many recipients a delivery may have in memory. Each may have `minimum`, even beyond `limit`; the first one (in
 * order of claiming) that still has unread ones may have all that is free of `limit` besides, and one that preempts
 * another gets half of what is left of `extra`. A delivery reads more when refill_limit of its places are free, or any
 * and refill_delay has passed, or when nothing of it waits. One read takes READ_MAX at most, so that the loop comes
 * round. The first read of any delivery may take all that is free of `limit`, or `minimum` if that is more. The
 * functions change nothing: the caller counts.
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

/* Recipients that it may read now; 0: none. */
size_t pool_may_read(const Pool *pool, const PoolView *view, int64_t now);

/* Return the part of the extra that a delivery which preempts is given; the caller counts it in extra_taken until that
 * ends. */
size_t pool_give_extra(const Pool *pool);
