/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/figures.h"

#include "base/clock.h"
#include "store/template_text.h"

static double age_of(int64_t time)
{
    return time ? (double)MAX(clock_now() - time, 0) / CLOCK_SECOND : 0;
}

static bool add_waiting(Store *store, const char *hostname, GString *text, GError **error)
{
    FragmentCount count;
    int64_t held, held_since, asked, asked_since, left, left_since, texts;
    if (!held_count(store, &held, &held_since, error) ||
        !pending_count(store, clock_now(), &asked, &asked_since, error) ||
        !outbox_count(store, &left, &left_since, error) || !template_text_count_faults(store, &texts, error) ||
        !fragment_count(store, hostname, &count, error))
        return false;
    const struct {
        const char *name, *help;
        double value;
    } gauges[] = {
        {"held_posts", "Posts that wait for a moderator.", (double)held},
        {"held_oldest_seconds", "How long the oldest of them has waited; 0: there is none.", age_of(held_since)},
        {"moderator_requests", "Requests to join or leave that wait for a moderator.", (double)asked},
        {"moderator_requests_oldest_seconds", "How long the oldest of them has waited; 0: there is none.",
         age_of(asked_since)},
        {"outbox_entries", "Mail that a change left in the database, and that has not reached its queue.",
         (double)left},
        {"outbox_oldest_seconds", "How long the oldest of it has waited; 0: there is none.", age_of(left_since)},
        {"template_faults", "Texts of letters that could not be fetched, or have a fault.", (double)texts},
        {"fragment_open_sets", "Messages that wait for parts.", (double)count.sets},
        {"fragment_parts", "Their parts that are there.", (double)count.parts},
        {"fragment_octets", "Octets of these.", (double)count.octets},
        {"fragment_oldest_seconds", "How long the oldest of them has waited; 0: there is none.",
         age_of(count.oldest)},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(gauges); i++) {
        const char *name = gauges[i].name;
        g_string_append_printf(text, "# HELP listrunner_%s %s\n# TYPE listrunner_%s gauge\nlistrunner_%s %.17g\n", name,
                               gauges[i].help, name, name, gauges[i].value);
    }
    return true;
}

static const struct {
    const char *name, *type, *help;
} job_figures[] = {
    {"task_runs_total", "counter", "How often the timer did a job."},
    {"task_failures_total", "counter", "How often it failed."},
    {"task_last_run_seconds", "gauge", "How long ago its last run ended."},
    {"task_failed", "gauge", "Whether its last run failed."},
    {"task_late_seconds", "gauge", "How long it has been due; 0: it is not."},
};

static double job_figure(const TaskJob *job, size_t which)
{
    const double figures[] = {(double)job->runs, (double)job->failures, age_of(job->ended_at), *job->fault != 0,
                              age_of(job->due_at)};
    return figures[which];
}

static bool add_jobs(Store *store, GString *text, GError **error)
{
    g_autoptr(GPtrArray) jobs = task_job_all(store, error);
    for (size_t i = 0; jobs && i < G_N_ELEMENTS(job_figures); i++) {
        const char *name = job_figures[i].name;
        g_string_append_printf(text, "# HELP listrunner_%s %s\n# TYPE listrunner_%s %s\n", name, job_figures[i].help,
                               name, job_figures[i].type);
        for (unsigned at = 0; at < jobs->len; at++) {
            const TaskJob *job = jobs->pdata[at];
            g_string_append_printf(text, "listrunner_%s{job=\"%s\"} %.17g\n", name, job->name, job_figure(job, i));
        }
    }
    return jobs != NULL;
}

bool figures_of_store(Store *store, const char *hostname, GString *text, GError **error)
{
    return add_waiting(store, hostname, text, error) && add_jobs(store, text, error);
}
