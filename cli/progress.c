/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/progress.h"

#include <glib.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define BAR_WIDTH 40
#define REDRAW_INTERVAL (CLOCK_SECOND / 10)

void progress_show(Progress *progress, uint64_t done, uint64_t count)
{
    if (progress->terminal == 0)
        progress->terminal = isatty(STDERR_FILENO) ? 1 : -1;
    int64_t now = clock_monotonic();
    if (progress->terminal < 0 || now < progress->next)
        return;
    progress->next = now + REDRAW_INTERVAL;
    if (progress->total == 0) {
        fprintf(stderr, "\r%" G_GUINT64_FORMAT " %s", count, progress->what);
        return;
    }
    int filled = (int)(MIN(done, progress->total) * BAR_WIDTH / progress->total);
    char bar[BAR_WIDTH + 1];
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3d%%  %" G_GUINT64_FORMAT " %s", bar,
            (int)(MIN(done, progress->total) * 100 / progress->total), count, progress->what);
}

void progress_end(Progress *progress)
{
    if (progress->terminal == 1 && progress->next)
        fputs("\r\033[K", stderr);
    progress->next = 0;
}
