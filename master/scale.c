/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/scale.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "master/supervisor.h"
#include "master/worker.h"

/* Forget what was measured with another number of processes. */
static void begin_anew(Scale *scale)
{
    scale->old = scale->young = 0;
    scale->speed = 0;
}

unsigned scale_decide(Scale *scale, const ScaleLook *look, const char **why)
{
    if (scale->least != look->least || scale->most != MAX(look->least, look->most))
        *scale = (Scale){
            .least = look->least, .most = MAX(look->least, look->most), .patience = SCALE_PATIENCE};
    const ScaleLook last = scale->last;
    scale->last = *look;
    if (scale->wait > 0)
        scale->wait--;
    if (!look->steady || look->instances != last.instances || look->done < last.done ||
        look->processor < last.processor || look->now <= last.now)
        return look->instances; /* nothing to compare it with */
    if (scale->proof > 0) {
        if (scale->proof == SCALE_PROOF) {
            scale->proof_since = look->now;
            scale->proof_done = look->done;
        }
        if (--scale->proof > 0)
            return look->instances;
        /* The doubling is over its proof: is the work quicker? */
        double seconds = (double)(look->now - scale->proof_since) / G_USEC_PER_SEC;
        double speed = seconds > 0 ? (double)(look->done - scale->proof_done) / seconds : 0;
        if (look->age < SCALE_OLD || speed >= scale->before * SCALE_GAIN) {
            scale->patience = SCALE_PATIENCE;
            return look->instances;
        }
        scale->wait = scale->patience;
        scale->patience = MIN(scale->patience * 2, SCALE_PATIENCE_MAX);
        *why = "twice as many were not quicker";
        begin_anew(scale);
        return look->instances / 2;
    }
    /* How quickly they work counts from a look at which entries have waited on: until then it is what arrives. */
    const double seconds = (double)(look->now - last.now) / G_USEC_PER_SEC;
    const double load = (double)(look->processor - last.processor) / (double)(look->now - last.now);
    const double speed = (double)(look->done - last.done) / seconds;
    bool is_old = look->age >= SCALE_OLD && (double)look->age > (double)last.age * SCALE_FALLING;
    scale->speed = is_old && scale->old > 0 ? (scale->speed * scale->old + speed) / (scale->old + 1) : speed;
    scale->old = is_old ? scale->old + 1 : 0;
    scale->young = look->age >= SCALE_OLD ? 0 : scale->young + 1;
    if (scale->old >= SCALE_GROW && look->instances < scale->most && scale->wait == 0 &&
        load < look->processors * 0.9) {
        scale->before = scale->speed;
        scale->proof = SCALE_PROOF;
        begin_anew(scale);
        *why = "entries wait";
        return look->instances * 2;
    }
    if (scale->young >= SCALE_SHRINK && look->instances > scale->least && load < SCALE_IDLE * look->instances / 2) {
        *why = "nothing waits, and half of them can do the work";
        begin_anew(scale);
        return look->instances / 2;
    }
    return look->instances;
}

/* ---- the looks ---- */

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
    const PlanRunner *plan = group->plan;
    ScaleLook look = {.instances = plan->instances, .least = plan->least, .most = plan->most,
                      .now = clock_monotonic(), .steady = !group->changing};
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
    unsigned wanted = scale_decide(&group->scale, &look, &why);
    if (wanted == plan->instances)
        return;
    g_autoptr(PlanRunner) next = plan_runner_copy(plan);
    next->instances = wanted;
    g_free(group->scaled_why);
    group->scaled_why = g_strdup(why);
    group->scaled_at = clock_now();
    log_info("%s: %s: %u instances become %u", plan->name, why, plan->instances, wanted);
    supervisor_change(group, next);
}

void scale_wait(Scaler *scaler)
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
        if (supervisor_goal(group) && group->plan->most > group->plan->least)
            look_at(group);
    }
    scale_wait(scaler);
}

Scaler *scale_new(Master *master)
{
    Scaler *scaler = g_new0(Scaler, 1);
    scaler->master = master;
    scaler->timer = evtimer_new(master->base, on_timer, scaler);
    on_timer(-1, 0, scaler);
    return scaler;
}

void scale_free(Scaler *scaler)
{
    if (!scaler)
        return;
    event_free(scaler->timer);
    g_free(scaler);
}
