/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/group.h"

#include "base/log.h"

static void make_workers(Group *group)
{
    g_ptr_array_set_size(group->workers, 0);
    for (unsigned i = 0; i < group->plan->instances; i++)
        g_ptr_array_add(group->workers, worker_new(group, i));
}

Group *group_new(Master *master, const PlanRunner *plan)
{
    Group *group = g_new0(Group, 1);
    group->master = master;
    group->plan = plan_runner_copy(plan);
    group->workers = g_ptr_array_new_with_free_func((GDestroyNotify)worker_free);
    make_workers(group);
    return group;
}

void group_free(Group *group)
{
    g_ptr_array_unref(group->workers);
    plan_runner_free(group->plan);
    g_clear_pointer(&group->next, plan_runner_free);
    g_free(group->scaled_why);
    g_free(group);
}

void group_start(Group *group)
{
    for (guint i = 0; i < group->workers->len; i++)
        worker_step(g_ptr_array_index(group->workers, i), EVENT_START);
}

void group_change(Group *group, const PlanRunner *next)
{
    PlanRunner *copy = next ? plan_runner_copy(next) : NULL;
    g_clear_pointer(&group->next, plan_runner_free);
    group->next = copy;
    if (group->changing)
        return;
    group->changing = true;
    log_info("%s: %s, instances=%u", group->plan->name, next ? "changes" : "stops", next ? next->instances : 0);
    for (guint i = 0; i < group->workers->len; i++)
        worker_step(g_ptr_array_index(group->workers, i), EVENT_STOP);
    supervisor_sweep_soon(group->master);
}

void group_refresh(Group *group)
{
    for (guint i = 0; i < group->workers->len; i++) {
        Worker *worker = g_ptr_array_index(group->workers, i);
        if (worker->state == WORKER_FAILED || worker->state == WORKER_WAITING)
            worker_step(worker, EVENT_START);
        else
            worker_reopen(worker);
    }
}

const PlanRunner *group_goal(const Group *group)
{
    return group->changing ? group->next : group->plan;
}

bool group_sweep(Group *group)
{
    if (!group->changing)
        return true;
    for (guint i = 0; i < group->workers->len; i++)
        if (((Worker *)g_ptr_array_index(group->workers, i))->state != WORKER_GONE)
            return true;
    if (!group->next)
        return false;
    plan_runner_free(group->plan);
    group->plan = g_steal_pointer(&group->next);
    group->changing = false;
    supervisor_close_unwanted(group->master); /* what only the old plan listened on */
    make_workers(group);
    group_start(group);
    return true;
}

bool group_settled(const Group *group)
{
    for (guint i = 0; i < group->workers->len; i++)
        if (!((Worker *)g_ptr_array_index(group->workers, i))->settled)
            return false;
    return true;
}
