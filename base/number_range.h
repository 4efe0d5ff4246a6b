/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read numbers as people write them: "12", or "12-15" or "12..15" for all from the first to the last. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct NumberRange {
    int64_t first, last; /* both belong to it; the same for one number */
} NumberRange;

/* Read the number or range with which text begins, and return how many bytes it has. Each number may have the letter
 * `mark` (in lower case) before it, in either case ("r4-r6" for 'r'); '\0': no letter. A "-" or ".." that no number
 * follows is not read. 0: text begins with no number of at most 17 digits, or the last is less than the first. */
size_t number_range_read(const char *text, char mark, NumberRange *range);
