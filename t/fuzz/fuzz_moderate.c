/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A moderator's answer of any octets: few decisions, whose numbers are positive and whose reasons are short UTF-8. */
#include <string.h>

#include "lists/moderate.h"
#include "t/fuzz/fuzz.h"

static void check_numbers(const GArray *numbers)
{
    for (unsigned at = 0; at < numbers->len; at++)
        require(g_array_index(numbers, int64_t, at) >= 0);
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
        check_numbers(decision->numbers);
        check_numbers(decision->requests);
    }
    return 0;
}
