/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/parked.h"

#include "base/clock.h"

#define LEAST 64

void parked_add(ParkedEntries *entries, const Parked *parked, int64_t now)
{
    if (!entries->all) {
        entries->all = g_array_new(FALSE, FALSE, sizeof(Parked));
        entries->most = LEAST;
    }
    if (entries->all->len >= entries->most && now >= entries->look) {
        /* Entries whose time has come were taken by their names, and stand here again if they still wait. */
        guint kept = 0;
        for (guint i = 0; i < entries->all->len; i++) {
            Parked one = g_array_index(entries->all, Parked, i);
            if (one.due > now)
                g_array_index(entries->all, Parked, kept++) = one;
        }
        g_array_set_size(entries->all, kept);
        entries->most = CLAMP(2 * entries->all->len, LEAST, PARKED_MAX);
        entries->look = now + CLOCK_SECOND;
    }
    if (entries->all->len < PARKED_MAX)
        g_array_append_val(entries->all, *parked);
}

size_t parked_count(const ParkedEntries *entries, int64_t now)
{
    size_t count = 0;
    for (guint i = 0; entries->all && i < entries->all->len; i++)
        count += g_array_index(entries->all, Parked, i).due > now;
    return count;
}

static gint by_arrival(gconstpointer one, gconstpointer other)
{
    int64_t a = ((const Parked *)one)->arrival;
    int64_t b = ((const Parked *)other)->arrival;
    return (a > b) - (a < b);
}

void parked_move(ParkedEntries *entries, GArray *to)
{
    if (entries->all)
        g_array_append_vals(to, entries->all->data, entries->all->len);
    g_array_sort(to, by_arrival);
    parked_clear(entries);
}

void parked_clear(ParkedEntries *entries)
{
    g_clear_pointer(&entries->all, g_array_unref);
}
