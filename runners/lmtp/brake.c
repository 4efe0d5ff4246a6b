/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/lmtp/brake.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "runners/lmtp/in_flow.h"
#include "switchboard/name.h"

#define LOOK_INTERVAL CLOCK_SECOND
#define LOOK_SHARE 20 /* of the time, one part in so many is spent on looking */
#define COUNT_FAILED (UINT64_MAX - 1)

/* The way of a post; the door itself puts posts into the first. */
static const char *const way[] = {"in", "pipeline", "out"};

struct Brake {
    char *directory;
    int64_t delay;
    InFlow flow;
    GThread *looker; /* NULL: no look is under way */
    int counted_fd;  /* an eventfd: the thread writes the count and one more, or COUNT_FAILED */
    struct event *counted, *timer;
    int64_t began;   /* monotonic: the last look */
    bool used;       /* mail came since then */
    int64_t since;   /* wall clock: intake is slowed since then */
    uint64_t held;   /* replies since then */
};

/* Adds the entries of a queue that are ready to count, up to most. */
static bool count_ready(int spool, const char *queue, uint64_t most, uint64_t *count)
{
    int64_t now = clock_now();
    int fd = openat(spool, queue, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (!directory) {
        int fault = errno;
        if (fd >= 0)
            close(fd);
        errno = fault;
        return fd < 0 && fault == ENOENT; /* made with its first entry */
    }
    errno = 0;
    for (const struct dirent *found; *count < most && (found = readdir(directory)) != NULL; errno = 0) {
        EntryName name;
        const char *rest;
        *count += name_parse(found->d_name, &name, &rest) && strcmp(rest, ".msg") == 0 && name.due <= now;
    }
    int fault = errno;
    closedir(directory);
    errno = fault;
    return fault == 0;
}

/* In the thread. */
static gpointer look(gpointer data)
{
    const Brake *brake = data;
    uint64_t count = 0;
    auto_fd spool = open(brake->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool sound = spool >= 0;
    for (size_t i = 0; sound && i < G_N_ELEMENTS(way); i++)
        sound = count_ready(spool, way[i], in_flow_most(&brake->flow), &count);
    if (!sound)
        log_warn("cannot count what waits behind the door: %s: %s", brake->directory, g_strerror(errno));
    if (eventfd_write(brake->counted_fd, sound ? count + 1 : COUNT_FAILED) != 0)
        log_panic("eventfd: %s", g_strerror(errno));
    return NULL;
}

static void arm(Brake *brake, int64_t time)
{
    event_add(brake->timer, &(struct timeval){time / CLOCK_SECOND, time % CLOCK_SECOND});
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Brake *brake = data;
    brake->used = false;
    brake->began = clock_monotonic();
    brake->looker = g_thread_try_new("brake", look, brake, NULL);
    if (!brake->looker) /* the system gives no thread now */
        arm(brake, LOOK_INTERVAL);
}

static void tell(Brake *brake, bool changed)
{
    bool all = brake->flow.waiting < in_flow_most(&brake->flow); /* no more were counted */
    g_autofree char *waiting = g_strdup_printf("%s%" PRIu64, all ? "" : "more than ", brake->flow.waiting);
    double delay = (double)brake->delay / CLOCK_SECOND;
    if (!brake->flow.slow) {
        log_info("intake runs free again after %" PRId64 " s: %" PRIu64 " replies were held; %s entries wait in in, "
                 "pipeline and out", (clock_now() - brake->since) / CLOCK_SECOND, brake->held, waiting);
        child_notice(CHILD_NOTICE_WORK, NULL);
        return;
    }
    if (changed) {
        brake->since = clock_now();
        brake->held = 0;
        log_warn("mail comes in faster than it leaves: %s entries wait in in, pipeline and out, and in_flow_limit is "
                 "%" PRIu64 "; each reply to a post is held for %g s from now on", waiting, brake->flow.limit, delay);
    }
    g_autofree char *since = clock_text(brake->since);
    g_autofree char *text = g_strdup_printf("mail comes in faster than it leaves: %s entries wait in in, pipeline and "
                                            "out; since %s each reply to a post is held for %g s (in_flow_limit)",
                                            waiting, since, delay);
    child_notice(CHILD_NOTICE_WORK, text);
}

static void on_counted(evutil_socket_t fd, short what, void *data)
{
    (void)what;
    Brake *brake = data;
    eventfd_t value;
    if (eventfd_read(fd, &value) != 0)
        return;
    int64_t took = clock_monotonic() - brake->began;
    g_thread_join(g_steal_pointer(&brake->looker));
    if (value != COUNT_FAILED) {
        bool changed = in_flow_look(&brake->flow, value - 1);
        if (changed || brake->flow.slow)
            tell(brake, changed);
    }
    if (brake->used || brake->flow.slow)
        arm(brake, MAX(LOOK_INTERVAL, took * LOOK_SHARE));
}

Brake *brake_new(struct event_base *base, const char *directory, uint64_t limit, int64_t delay)
{
    Brake *brake = g_new0(Brake, 1);
    brake->directory = g_strdup(directory);
    brake->delay = delay;
    brake->flow.limit = limit;
    brake->counted_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (brake->counted_fd < 0)
        log_panic("eventfd: %s", g_strerror(errno));
    brake->counted = event_new(base, brake->counted_fd, EV_READ | EV_PERSIST, on_counted, brake);
    brake->timer = evtimer_new(base, on_timer, brake);
    event_add(brake->counted, NULL);
    return brake;
}

void brake_free(Brake *brake)
{
    if (brake->looker)
        g_thread_join(brake->looker);
    event_free(brake->counted);
    event_free(brake->timer);
    close(brake->counted_fd);
    g_free(brake->directory);
    g_free(brake);
}

bool brake_holds(Brake *brake, const char *queue)
{
    if (brake->delay == 0 || strcmp(queue, way[0]) != 0)
        return false;
    brake->used = true;
    if (!brake->looker && !evtimer_pending(brake->timer, NULL))
        arm(brake, LOOK_INTERVAL);
    brake->held += brake->flow.slow;
    return brake->flow.slow;
}
