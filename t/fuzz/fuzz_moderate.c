/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A moderator's answer of any bytes: few decisions; ranges go forward, reasons are UTF-8, a mistake has no reason. */
#include <string.h>

#include "lists/posts/moderate.h"
#include "t/fuzz/fuzz.h"

static void check_ranges(const GArray *ranges)
{
    for (unsigned at = 0; at < ranges->len; at++) {
        const NumberRange *range = &g_array_index(ranges, NumberRange, at);
        require(range->first >= 0 && range->last >= range->first);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GBytes) octets = g_bytes_new(data, size);
    g_autoptr(GPtrArray) decisions = moderate_read(octets);
    require(decisions->len <= DECISIONS_MAX + 1);
    for (unsigned at = 0; at < decisions->len; at++) {
        const Decision *decision = decisions->pdata[at];
        require(g_utf8_validate(decision->line, -1, NULL) && !strpbrk(decision->line, "\r\n"));
        require(!decision->reason || (decision->verdict == HELD_REJECT && g_utf8_validate(decision->reason, -1, NULL)));
        require(!decision->mistake || (!decision->reason && g_str_is_ascii(decision->mistake)));
        check_ranges(decision->numbers);
        check_ranges(decision->requests);
    }
    return 0;
}
