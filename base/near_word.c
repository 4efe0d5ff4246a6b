/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/near_word.h"

#include <glib.h>
#include <string.h>

size_t near_word_distance(const char *a, const char *b)
{
    size_t rows = strlen(a) + 1, columns = strlen(b) + 1;
    g_autofree size_t *cells = g_new0(size_t, rows * columns);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            size_t *cell = cells + i * columns + j;
            if (i == 0 || j == 0) {
                *cell = i + j;
                continue;
            }
            *cell = *(cell - columns - 1) + (a[i - 1] != b[j - 1]);
            *cell = MIN(*cell, MIN(*(cell - columns), *(cell - 1)) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                *cell = MIN(*cell, *(cell - 2 * columns - 2) + 1);
        }
    return cells[rows * columns - 1];
}

void near_word_offer(NearWord *near, const char *candidate)
{
    size_t length = strlen(near->wanted), other = strlen(candidate);
    /* Each missing byte is a change, so that long words from outside cost nothing. */
    if ((length > other ? length - other : other - length) >= near->distance)
        return;
    size_t found = near_word_distance(near->wanted, candidate);
    if (found < near->distance && found < other) {
        near->best = candidate;
        near->distance = found;
    }
}
