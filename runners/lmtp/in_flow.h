/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide whether intake is to be slowed down, from how many entries wait in the queues behind the door. The functions
 * only calculate: the figures are passed in.
 *
 * A burst fills the queues, and they drain while it is taken or soon after. A flood goes on. So intake is slowed from
 * the second look in a row on that finds more than the limit, and no fewer than the look before it. It runs free again
 * when a look finds three quarters of the limit or less: the space between keeps it from changing at every look.
 */
#include <stdbool.h>
#include <stdint.h>

typedef struct InFlow {
    uint64_t limit;   /* entries */
    uint64_t waiting; /* what the last look found */
    bool slow;
} InFlow;

/* Return up to which number a look has to count: beyond twice the limit it makes no difference how many there are. */
static inline uint64_t in_flow_most(const InFlow *flow)
{
    return 2 * flow->limit;
}

/* Take in what a look found: waiting entries, of which at most in_flow_most() were counted. Return true when flow->slow
 * changed. */
bool in_flow_look(InFlow *flow, uint64_t waiting);
