/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/pause.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/fail.h"
#include "base/log.h"
#include "master/group.h"

#define LOOK_INTERVAL (CLOCK_SECOND / 1000)

struct Pause {
    Master *master;
    struct event *timer; /* to look again, then the limit */
    int64_t begun;
    PauseDone *done; /* NULL: it was called */
    void *data;
};

/* Call it for each child. False: it was false for one. */
typedef bool EachWorker(Worker *worker);
static bool each_worker(const Master *master, EachWorker *each)
{
    bool all = true;
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        for (guint j = 0; j < group->workers->len; j++)
            all &= each(g_ptr_array_index(group->workers, j));
    }
    return all;
}

static bool stop(Worker *worker)
{
    return worker->pid <= 0 || kill(worker->pid, SIGSTOP) == 0;
}

/* The kernel reports a process as stopped when the last of its threads is. */
static bool stands_still(Worker *worker)
{
    siginfo_t found = {0};
    return worker->pid <= 0 ||
           (waitid(P_PID, (id_t)worker->pid, &found, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_pid != 0);
}

static bool go_on(Worker *worker)
{
    worker_go_on(worker);
    return true;
}

static void look_in(const Pause *pause, int64_t delay)
{
    struct timeval interval = {delay / CLOCK_SECOND, delay % CLOCK_SECOND};
    evtimer_add(pause->timer, &interval);
}

void pause_break(Master *master)
{
    Pause *pause = g_steal_pointer(&master->pause);
    if (!pause)
        return;
    each_worker(master, go_on);
    log_info("all go on after %" PRId64 " ms", (clock_monotonic() - pause->begun) * 1000 / CLOCK_SECOND);
    event_free(pause->timer);
    g_free(pause);
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    Pause *pause = data;
    int64_t left = pause->begun + PAUSE_LIMIT - clock_monotonic();
    PauseDone *done = pause->done;
    if (left > 0 && done && each_worker(pause->master, stands_still)) {
        pause->done = NULL;
        look_in(pause, left);
        done(pause->data, NULL);
    } else if (left > 0) {
        look_in(pause, done ? LOOK_INTERVAL : left);
    } else {
        g_autoptr(GError) late = NULL;
        fail(&late, FAIL_LATER, "not every process stood still within %d s", (int)(PAUSE_LIMIT / CLOCK_SECOND));
        log_warn("a pause took too long");
        void *whose = pause->data;
        pause_break(pause->master);
        if (done)
            done(whose, late);
    }
}

bool pause_begin(Master *master, PauseDone *done, void *data, GError **error)
{
    if (master->pause)
        return fail(error, FAIL_LATER, "there is a pause already");
    Pause *pause = master->pause = g_new0(Pause, 1);
    *pause = (Pause){.master = master, .begun = clock_monotonic(), .done = done, .data = data};
    pause->timer = evtimer_new(master->base, on_timer, pause);
    each_worker(master, stop);
    look_in(pause, 0);
    return true;
}

bool pause_end(Master *master, const void *data)
{
    bool ours = master->pause && master->pause->data == data;
    if (ours)
        pause_break(master);
    return ours;
}
