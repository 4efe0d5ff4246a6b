/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/clock_back.h"

#include <stdbool.h>

int64_t clock_back_look(ClockBack *back, int64_t wall, int64_t monotonic)
{
    int64_t offset = wall - monotonic, behind = back->offset - offset;
    bool over = back->since > 0 && monotonic - back->since >= behind;
    if (back->offset == 0 || behind < CLOCK_BACK_MIN || over) {
        back->offset = back->offset == 0 || over || offset > back->offset ? offset : back->offset;
        back->since = 0;
        return 0;
    }
    if (back->since == 0)
        back->since = monotonic;
    return behind;
}
