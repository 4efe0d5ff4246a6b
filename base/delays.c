/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/delays.h"

#include <inttypes.h>

#include "base/clock.h"

/* The upper bound of a column, microseconds. */
static int64_t bound_of(unsigned column)
{
    return (CLOCK_SECOND / 16) << column;
}

void delays_add(Delays *delays, DelayUntil until, int64_t delay, uint64_t recipients)
{
    unsigned column = 0;
    while (column + 1 < DELAYS_COLUMNS && delay > bound_of(column))
        column++;
    delays->counts[until][column] += recipients;
}

uint64_t delays_count(const Delays *delays, DelayUntil until)
{
    uint64_t count = 0;
    for (unsigned at = 0; at < DELAYS_COLUMNS; at++)
        count += delays->counts[until][at];
    return count;
}

void delays_print(const Delays *delays, DelayUntil until, GString *text)
{
    const uint64_t *counts = delays->counts[until];
    unsigned used = DELAYS_COLUMNS;
    while (used > 0 && counts[used - 1] == 0)
        used--;
    for (unsigned i = 0; i < used; i++)
        g_string_append_printf(text, "%s%" PRIu64, i > 0 ? "," : "", counts[i]);
}

bool delays_parse(const char *text, uint64_t counts[DELAYS_COLUMNS])
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    guint found = g_strv_length(words);
    bool valid = found <= DELAYS_COLUMNS;
    for (guint i = 0; valid && i < DELAYS_COLUMNS; i++) {
        guint64 count = 0;
        valid = i >= found || g_ascii_string_to_unsigned(words[i], 10, 0, G_MAXINT64, &count, NULL);
        counts[i] = count;
    }
    return valid;
}

double delays_within(const uint64_t counts[DELAYS_COLUMNS], double part)
{
    uint64_t all = 0;
    double before = 0;
    for (unsigned i = 0; i < DELAYS_COLUMNS; i++)
        all += counts[i];
    if (all == 0)
        return -1;
    double wanted = part * (double)all;
    for (unsigned i = 0; i + 1 < DELAYS_COLUMNS; i++) {
        double lower = i > 0 ? (double)bound_of(i - 1) : 0, upper = (double)bound_of(i), count = (double)counts[i];
        if (count > 0 && before + count >= wanted)
            return (lower + (upper - lower) * (wanted - before) / count) / CLOCK_SECOND;
        before += count;
    }
    return (double)bound_of(DELAYS_COLUMNS - 2) / CLOCK_SECOND;
}
