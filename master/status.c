/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/status.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/certificate.h"
#include "base/clock.h"
#include "base/confine.h"
#include "master/group.h"
#include "master/survey.h"

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

/* Seconds with a fraction, or null when there is no such moment. */
static json_t *seconds(int64_t from, int64_t to)
{
    return from && to ? json_real((double)MAX(to - from, 0) / (double)CLOCK_SECOND) : json_null();
}

static json_t *oldest_json(int64_t oldest)
{
    if (oldest == 0)
        return json_null();
    g_autofree char *text = g_strdup_printf("%" PRId64 ".%06" PRId64, oldest / CLOCK_SECOND, oldest % CLOCK_SECOND);
    return json_string(text);
}

static json_t *child_json(const Worker *worker)
{
    const Beat *beat = &worker->watch.beat;
    bool alive = worker->pid > 0;
    int64_t now = clock_monotonic(), timeout = worker->group->master->plan->limits.stall_timeout;
    bool stalled = alive && (worker->state == WORKER_READY || worker->state == WORKER_STARTING) &&
                   watch_stalled(&worker->watch, timeout, now);
    return json_pack("{s:i,s:o,s:s,s:b,s:b,s:o,s:o,s:i,s:i,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:i}",
                     "instance", (int)worker->instance,
                     "pid", alive ? json_integer(worker->pid) : json_null(),
                     "state", worker_state_text(worker),
                     "healthy", (int)worker_healthy(worker),
                     "stalled", (int)stalled,
                     "stalled_for", seconds(stalled ? MIN(worker->watch.moved, worker->watch.spoke) : 0, now),
                     "down_for", seconds(worker->down, now),
                     "restarts", (int)worker_restarts(worker),
                     "renewals", (int)worker->renewals,
                     "last_exit", text_or_null(worker->last_exit),
                     "retry_in", alive ? json_null() : seconds(worker->retry_at ? now : 0, worker->retry_at),
                     "age", alive ? seconds(worker->started, now) : json_null(),
                     "progress", (json_int_t)beat->progress,
                     "done", (json_int_t)beat->done,
                     "recipients", (json_int_t)delays_count(&beat->delays, DELAY_UNTIL_SETTLED),
                     "backlog", (json_int_t)beat->backlog,
                     "late", (json_int_t)(alive ? beat->late : 0),
                     "oldest", oldest_json(beat->oldest),
                     "holding", text_or_null(beat->holding),
                     "notice", text_or_null(alive ? worker->watch.notice : NULL),
                     "beat_age", alive ? seconds(worker->watch.beaten, now) : json_null(),
                     "deaths", (int)worker_loops(worker));
}

static json_t *group_json(const Group *group, bool *healthy)
{
    json_t *children = json_array();
    for (guint i = 0; i < group->workers->len; i++) {
        const Worker *worker = g_ptr_array_index(group->workers, i);
        json_array_append_new(children, child_json(worker));
        *healthy &= worker_healthy(worker);
    }
    const PlanRunner *goal = group_goal(group);
    const char *state = group->master->stopping ? "stopping"
                        : !group->changing      ? "running"
                        : goal                  ? "changing"
                                                : "removing";
    const PlanRunner *plan = goal ? goal : group->plan;
    json_t *scaled = group->scaled_at > 0 ? json_pack("{s:s,s:o}", "why", group->scaled_why, "age",
                                                      seconds(group->scaled_at, clock_now()))
                                          : json_null();
    return json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:o,s:o,s:o}", "runner", group->plan->name, "queue",
                     group->plan->queue, "state", state, "instances", (int)group->plan->instances, "wanted",
                     goal ? (int)goal->instances : 0, "least", (int)plan->least, "most", (int)plan->most, "scaled",
                     scaled, "unconfined", text_or_null(plan->unconfined), "children", children);
}

/* Of files that cannot be read those say so that need them. */
static json_t *certificates_json(const GPtrArray *files)
{
    json_t *all = json_array();
    for (guint at = 0; at < files->len; at++) {
        const CertificateFile *file = files->pdata[at];
        int64_t end;
        if (certificate_end(file, &end, NULL))
            json_array_append_new(all, json_pack("{ss ss ss sI}", "setting", file->setting, "file", file->path,
                                                 "readers", file->readers ? file->readers : "", "end",
                                                 (json_int_t)(end / CLOCK_SECOND)));
    }
    return all;
}

json_t *status_json(Master *master)
{
    bool healthy = true;
    const char *unable;
    confine_possible(&unable);
    json_t *runners = json_array();
    for (guint i = 0; i < master->groups->len; i++)
        json_array_append_new(runners, group_json(g_ptr_array_index(master->groups, i), &healthy));
    json_t *missing = survey_missing(master->plan->spool);
    healthy &= json_array_size(missing) == 0;
    g_autofree char *since = clock_text(master->since);
    return json_pack("{s:b,s:i,s:s,s:s,s:s,s:s,s:b,s:o,s:o,s:o,s:o,s:o,s:I}", "ok", 1, "pid", (int)getpid(), "version",
                     PACKAGE_VERSION, "since", since, "config", master->config_path, "state",
                     master->stopping ? "stopping" : "running", "healthy", (int)healthy, "fault",
                     text_or_null(master->reload_fault), "runners", runners, "missing", missing, "no_confinement",
                     text_or_null(unable), "certificates", certificates_json(master->plan->certificates),
                     "clock_set_back",
                     (json_int_t)(watch_clock(&master->clock, clock_now(), clock_monotonic()) / CLOCK_SECOND));
}
