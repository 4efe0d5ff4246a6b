/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return now.tv_sec * CLOCK_SECOND + now.tv_nsec / 1000;
}

int64_t clock_now(void)
{
    /* A test may add seconds. The environment is read once. */
    static gsize initialised;
    static int64_t fixed;
    static const char *file;
    if (g_once_init_enter(&initialised)) {
        const char *text = g_getenv("LISTRUNNER_CLOCK_OFFSET");
        fixed = text ? g_ascii_strtoll(text, NULL, 10) * CLOCK_SECOND : 0;
        file = g_getenv(CLOCK_ENV_FILE);
        g_once_init_leave(&initialised, 1);
    }
    g_autofree char *text = NULL;
    bool moves = file && g_file_get_contents(file, &text, NULL, NULL);
    return read_clock(CLOCK_REALTIME) + fixed + (moves ? g_ascii_strtoll(text, NULL, 10) * CLOCK_SECOND : 0);
}

int64_t clock_steady(void)
{
    static gsize initialised;
    static int64_t ahead; /* of the monotonic clock */
    if (g_once_init_enter(&initialised)) {
        ahead = clock_now() - clock_monotonic();
        g_once_init_leave(&initialised, 1);
    }
    return clock_monotonic() + ahead;
}

int64_t clock_of_steady(int64_t steady)
{
    return steady + clock_now() - clock_steady();
}

int64_t clock_unique(void)
{
    static GMutex lock;
    static int64_t last;
    int64_t now = clock_now();
    g_mutex_lock(&lock);
    if (now <= last)
        now = last + 1;
    last = now;
    g_mutex_unlock(&lock);
    return now;
}

int64_t clock_monotonic(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_boot(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

bool clock_boot_id(char id[CLOCK_BOOT_ID_SIZE])
{
    int fd = TEMP_FAILURE_RETRY(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    ssize_t got = fd < 0 ? -1 : TEMP_FAILURE_RETRY(read(fd, id, CLOCK_BOOT_ID_SIZE - 1));
    if (fd >= 0)
        close(fd);
    id[MAX(got, 0)] = '\0';
    return got == CLOCK_BOOT_ID_SIZE - 1;
}

char *clock_text(int64_t time)
{
    g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    return date ? g_date_time_format(date, "%Y-%m-%dT%H:%M:%SZ") : g_strdup("-");
}

char *clock_rfc5322(int64_t time)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)(time / CLOCK_SECOND);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    return g_strdup_printf("%s, %d %s %d %02d:%02d:%02d +0000", days[parts.tm_wday], parts.tm_mday,
                           months[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min,
                           parts.tm_sec);
}
