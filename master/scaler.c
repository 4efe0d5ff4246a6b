/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/scaler.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

struct Scaler {
    Master *master;
    struct event *timer;
};

/* Processor time of a process, us; 0: it is gone. */
static int64_t processor_time(pid_t pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%ld/stat", (long)pid), *text = NULL;
    unsigned long user, system;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return 0;
    const char *end = strrchr(text, ')'); /* the name may hold anything */
    if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        return 0;
    return (int64_t)(user + system) * CLOCK_SECOND / sysconf(_SC_CLK_TCK);
}

static void look_at(Group *group)
{
    const char *why = NULL;
    Scale *scale = &group->scale;
    const PlanRunner *plan = group->plan;
    if (scale->least != plan->least || scale->most != MAX(plan->least, plan->most))
        scale_init(scale, plan->least, plan->most);
    ScaleLook look = {.instances = plan->instances, .now = clock_monotonic(), .steady = !group->changing};
    look.processors = g_get_num_processors();
    for (guint at = 0; at < group->workers->len; at++) {
        const Worker *worker = group->workers->pdata[at];
        const Beat *beat = &worker->watch.beat;
        int64_t now = clock_now();
        look.steady &= worker->state == WORKER_READY && worker->watch.beaten > 0;
        look.done += beat->done;
        look.processor += worker->pid > 0 ? processor_time(worker->pid) : 0;
        if (beat->backlog > 0 && beat->oldest > 0 && now > beat->oldest)
            look.age = MAX(look.age, now - beat->oldest);
    }
    unsigned wanted = scale_decide(scale, &look, &why);
    if (wanted == plan->instances)
        return;
    g_autoptr(PlanRunner) next = plan_runner_copy(plan);
    next->instances = wanted;
    g_free(group->scaled_why);
    group->scaled_why = g_strdup(why);
    group->scaled_at = clock_now();
    log_info("%s: %s: %u instances become %u", plan->name, why, plan->instances, wanted);
    group_change(group, next);
}

void scaler_wait(Scaler *scaler)
{
    const int64_t interval = scaler->master->plan->limits.scale_interval;
    evtimer_add(scaler->timer, (&(struct timeval){interval / CLOCK_SECOND, interval % CLOCK_SECOND}));
}

static void on_timer(G_GNUC_UNUSED evutil_socket_t fd, G_GNUC_UNUSED short what, void *data)
{
    Scaler *scaler = data;
    Master *master = scaler->master;
    for (guint at = 0; at < master->groups->len && !master->stopping && !master->pause; at++) {
        Group *group = master->groups->pdata[at];
        if (group_goal(group) && group->plan->most > group->plan->least)
            look_at(group);
    }
    scaler_wait(scaler);
}

Scaler *scaler_new(Master *master)
{
    Scaler *scaler = g_new0(Scaler, 1);
    scaler->master = master;
    scaler->timer = evtimer_new(master->base, on_timer, scaler);
    on_timer(-1, 0, scaler);
    return scaler;
}

void scaler_free(Scaler *scaler)
{
    if (!scaler)
        return;
    event_free(scaler->timer);
    g_free(scaler);
}

void scaler_keep(Group *group, PlanRunner *wanted)
{
    PlanRunner *goal = group->changing ? group->next : group->plan;
    if (!goal)
        return;
    if (goal->most > goal->least && wanted->most > wanted->least)
        wanted->instances = CLAMP(goal->instances, wanted->least, wanted->most);
    goal->least = wanted->least;
    goal->most = wanted->most;
}
