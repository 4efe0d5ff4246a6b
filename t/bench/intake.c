/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Measure how much the switchboard's intake reaches without a protocol in front: usage:
 * intake SPOOL GROUP FILES OCTETS [syncfs]. Stores FILES entries, GROUP at a time; prints files a second and
 * the processor time of each. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/fs.h"
#include "switchboard/intake.h"

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: %s SPOOL GROUP FILES OCTETS [syncfs]\n", argv[0]);
        return 64;
    }
    fs_use_syncfs(argc == 6);
    g_autoptr(Spool) spool = spool_open(argv[1], NULL);
    if (!spool) {
        fprintf(stderr, "%s: cannot be used as a spool\n", argv[1]);
        return 66;
    }
    size_t group = (size_t)atol(argv[2]), files = (size_t)atol(argv[3]), length = (size_t)atol(argv[4]);
    g_autoptr(GBytes) octets = g_bytes_new_take(g_malloc0(length), length);
    g_autofree Intake *intakes = g_new0(Intake, group);
    int64_t from = clock_monotonic();
    for (size_t stored = 0; stored < files; stored += group) {
        for (size_t i = 0; i < group; i++) {
            intakes[i] = (Intake){.draft = draft_new("in", json_object())};
            draft_add_message(intakes[i].draft, octets);
        }
        if (!intake_store(spool, intakes, group, false)) {
            fprintf(stderr, "intake failed\n");
            return 1;
        }
        for (size_t i = 0; i < group; i++)
            draft_free(intakes[i].draft);
    }
    printf("%.0f a second, %.0f us of processor each\n",
           (double)files * CLOCK_SECOND / (double)(clock_monotonic() - from),
           (double)clock() / CLOCKS_PER_SEC * 1e6 / (double)files);
    return 0;
}
