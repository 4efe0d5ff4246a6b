/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/flights.h"

#include <glib.h>

void flights_observe(Flights *flights, int64_t took, int64_t now)
{
    took = MAX(took, 1);
    if (now - flights->span >= FLIGHTS_SPAN || now < flights->span) {
        flights->before = flights->least;
        flights->least = took;
        flights->span = now;
    } else {
        flights->least = MIN(flights->least, took);
    }
}

static bool slow(const Flights *flights)
{
    return flights->before > FLIGHTS_SLOW && flights->least > FLIGHTS_SLOW;
}

unsigned flights_most(const Flights *flights, unsigned wanted, int64_t now)
{
    if (now < flights->pause_until || (!flights->proven && flights->out > 0))
        return 1;
    if (wanted > 0)
        return wanted;
    return slow(flights) ? FLIGHTS_DEFAULT : 1;
}

void flights_begin(Flights *flights)
{
    flights->out++;
}

void flights_end(Flights *flights, bool whole, int64_t now)
{
    g_assert(flights->out > 0);
    flights->out--;
    flights->proven = whole && now >= flights->pause_until;
    if (!whole)
        flights->pause_until = now + FLIGHTS_PAUSE;
}
