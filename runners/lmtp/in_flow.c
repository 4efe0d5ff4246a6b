/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/lmtp/in_flow.h"

bool in_flow_look(InFlow *flow, uint64_t waiting)
{
    bool was_slow = flow->slow;
    if (was_slow)
        flow->slow = waiting > flow->limit - flow->limit / 4;
    else
        flow->slow = flow->waiting > flow->limit && waiting >= flow->waiting;
    flow->waiting = waiting;
    return flow->slow != was_slow;
}
