/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/notify.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static int notify_fd = -1;
static struct sockaddr_un notify_address;
static socklen_t notify_length;
static int64_t notify_interval;

/* WATCHDOG_PID names the process meant; ours unless it says otherwise. */
static int64_t watchdog_of_environment(void)
{
    const char *usec = g_getenv("WATCHDOG_USEC"), *pid = g_getenv("WATCHDOG_PID");
    guint64 interval, number;
    if (!usec || !g_ascii_string_to_unsigned(usec, 10, 2, G_MAXINT64, &interval, NULL))
        return 0;
    if (pid && (!g_ascii_string_to_unsigned(pid, 10, 1, G_MAXINT, &number, NULL) || (pid_t)number != getpid()))
        return 0;
    return (int64_t)interval / 2;
}

void notify_init(void)
{
    const char *path = g_getenv("NOTIFY_SOCKET");
    if (path && (*path == '/' || *path == '@') && strlen(path) < sizeof notify_address.sun_path) {
        notify_address = (struct sockaddr_un){.sun_family = AF_UNIX};
        memcpy(notify_address.sun_path, path, strlen(path));
        notify_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
        if (*path == '@')
            notify_address.sun_path[0] = '\0';
        else
            notify_length++;
        notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        notify_interval = watchdog_of_environment();
    } else if (path && *path) {
        log_warn("NOTIFY_SOCKET=%s is no socket that can be used; nobody is notified", path);
    }
    g_unsetenv("NOTIFY_SOCKET");
    g_unsetenv("WATCHDOG_USEC");
    g_unsetenv("WATCHDOG_PID");
}

void notify_close(void)
{
    if (notify_fd >= 0)
        close(notify_fd);
    notify_fd = -1;
    notify_interval = 0;
}

static void say(const char *message)
{
    if (notify_fd >= 0 && sendto(notify_fd, message, strlen(message), MSG_NOSIGNAL,
                                 (const struct sockaddr *)&notify_address, notify_length) < 0)
        log_debug("could not notify the service manager");
}

void notify_ready(const char *status)
{
    g_autofree char *message = g_strdup_printf("READY=1\nSTATUS=%s\nMAINPID=%ld\n", status, (long)getpid());
    say(message);
}

void notify_reloading(void)
{
    /* The time is what tells one reload from another. */
    g_autofree char *message = g_strdup_printf("RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT "\n", clock_monotonic());
    say(message);
}

void notify_stopping(void)
{
    say("STOPPING=1\nSTATUS=waiting for the runners to finish\n");
}

int64_t notify_watchdog_interval(void)
{
    return notify_interval;
}

void notify_watchdog(void)
{
    say("WATCHDOG=1\n");
}
