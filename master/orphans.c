/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/orphans.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "master/slices.h"

/* A process that SIGKILL does not end hangs in the kernel; its slice stays locked, so the wait need not be longer. */
#define KILL_WAIT (5 * CLOCK_SECOND)

/* Forgets those that cannot be signalled: another user's. */
static void signal_all(GPtrArray *owners, int number, const char *what)
{
    for (guint i = owners->len; i-- > 0;) {
        const SliceOwner *owner = g_ptr_array_index(owners, i);
        log_warn("%s: process %ld of an earlier master still owns the slice at %u of %u; %s", owner->queue,
                 (long)owner->pid, owner->first, SLICES_FINEST, what);
        if (pidfd_send_signal(owner->pidfd, number, NULL, 0) == 0 || errno == ESRCH) {
            pidfd_send_signal(owner->pidfd, SIGCONT, NULL, 0); /* its master may have died in a pause */
            continue;
        }
        log_error("process %ld: %s", (long)owner->pid, g_strerror(errno));
        g_ptr_array_remove_index(owners, i);
    }
}

/* Waits for all of them, at most `timeout` or until told to stop, and forgets those that have ended. */
static void wait_all(GPtrArray *owners, int64_t timeout, int stop_fd)
{
    int64_t until = clock_monotonic() + timeout;
    int64_t left;
    while (owners->len > 0 && (left = until - clock_monotonic()) > 0) {
        g_autofree struct pollfd *polled = g_new0(struct pollfd, owners->len + 1);
        for (guint i = 0; i < owners->len; i++)
            polled[i] = (struct pollfd){((SliceOwner *)g_ptr_array_index(owners, i))->pidfd, POLLIN, 0};
        polled[owners->len] = (struct pollfd){stop_fd, POLLIN, 0};
        if (poll(polled, owners->len + 1, (int)MIN(left / 1000 + 1, G_MAXINT)) < 0 && errno != EINTR)
            return;
        if (polled[owners->len].revents)
            return;
        for (guint i = owners->len; i-- > 0;)
            if (polled[i].revents)
                g_ptr_array_remove_index(owners, i);
    }
}

void orphans_end(int dir_fd, int64_t timeout)
{
    g_autoptr(GPtrArray) owners = slices_all_owners(dir_fd);
    if (owners->len == 0)
        return;
    sigset_t stops; /* the descriptor is readable while a signal that ends the master is pending; it stays so */
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    auto_fd stop_fd = signalfd(-1, &stops, SFD_CLOEXEC);
    struct pollfd told = {stop_fd, POLLIN, 0};
    signal_all(owners, SIGTERM, "asked to finish");
    wait_all(owners, timeout, stop_fd);
    if (owners->len == 0 || poll(&told, 1, 0) > 0)
        return;
    signal_all(owners, SIGKILL, "killed");
    wait_all(owners, KILL_WAIT, stop_fd);
}
