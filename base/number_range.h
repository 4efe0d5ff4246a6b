/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Numbers as people write them: "12", or "12-15" or "12..15" for all from the first to the last. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct NumberRange {
    int64_t first, last; /* both belong to it; the same for one number */
} NumberRange;

/* Read what text begins with. Each number may have `mark` before it ('r' in either case: "r4-r6"); '\0': none. Returns
 * how many bytes were read. 0: there is no number that fits in 17 digits, or the last is less than the first. */
size_t number_range_read(const char *text, char mark, NumberRange *range);
