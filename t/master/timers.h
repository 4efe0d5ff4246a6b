/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Let the timers of a part of the master run out without waiting, for tests. */
#include <event2/event.h>
#include <event2/event_struct.h>

static inline int timer_run_out(const struct event_base *base, const struct event *timer, void *data)
{
    (void)base;
    (void)data;
    event_active((struct event *)timer, EV_TIMEOUT, 0);
    return 0;
}

/* Run the functions of all timers of the base once, so many times. */
static inline void timers_run_out(struct event_base *base, unsigned times)
{
    while (times-- > 0) {
        event_base_foreach_event(base, timer_run_out, NULL);
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
}
