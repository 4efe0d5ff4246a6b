/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Reads the sources of members that are due (lists/sources/source.h). A source that fails is told in the log and in its
 * row, where status and the metrics find it, and does not keep the others from their turn.
 */
#include "base/fail.h"
#include "base/log.h"
#include "lists/sources/source.h"
#include "runners/task/jobs.h"

static bool commit(Work *work, void *data, GError **error)
{
    const JobPlace *place = data;
    return work_commit(work, runner_spool(place->runner), error);
}

/* Asked while a source is read, too, when the claim is not to be looked at in the database. */
static bool alive(void *data)
{
    const JobPlace *place = data;
    runner_progress(place->runner);
    return !runner_stopping(place->runner);
}

static bool refresh_one(const JobPlace *place, MemberSource *source, int64_t *done, GError **error)
{
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER, .from = "task"};
    const SourceRun run = {.read = source_read,
                           .store = place->store,
                           .site = place->site,
                           .actor = &actor,
                           .interval = config_duration(place->config, "site", "source_interval"),
                           .commit = commit,
                           .alive = alive,
                           .data = (void *)place};
    g_auto(SourceResult) result = {0};
    g_autoptr(GError) fault = NULL;
    bool told = source_refresh(&run, source, &result, &fault);
    *done += result.joined + result.left;
    if (result.fault)
        log_warn("- queue=task job=sources list=%s source=%s: %s", source->list_id, source->name,
                 result.fault->message);
    else if (result.joined + result.left > 0)
        log_info("- queue=task job=sources list=%s source=%s joined=%" G_GINT64_FORMAT " left=%" G_GINT64_FORMAT,
                 source->list_id, source->name, result.joined, result.left);
    /* Somebody refreshes or sets it in the shell, or has removed it or its list. */
    if (told || g_error_matches(fault, FAIL, FAIL_RACE) || g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "%s, source %s: ", source->list_id, source->name);
    return false;
}

bool refresh_sources(const JobPlace *place, int64_t *done, GError **error)
{
    g_autoptr(GError) first = NULL;
    g_autoptr(GPtrArray) due = source_due(place->store, place->now, error);
    for (guint at = 0; due && at < due->len && !job_stops(place); at++) {
        g_autoptr(GError) fault = NULL;
        if (!refresh_one(place, due->pdata[at], done, &fault) && !first)
            first = g_steal_pointer(&fault);
    }
    if (first)
        g_propagate_error(error, g_steal_pointer(&first));
    return due && !first;
}
