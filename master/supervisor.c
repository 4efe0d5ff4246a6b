/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/supervisor.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "master/group.h"
#include "master/notify.h"
#include "master/pause.h"
#include "master/sampler.h"
#include "master/scaler.h"

void supervisor_close_unwanted(Master *master)
{
    g_autoptr(GHashTable) wanted = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        for (char **address = group->plan->listen; *address; address++)
            g_hash_table_add(wanted, *address);
        for (char **address = group->next ? group->next->listen : NULL; address && *address; address++)
            g_hash_table_add(wanted, *address);
    }
    listen_keep(master->listen, wanted);
}

static void announce(Master *master)
{
    unsigned children = 0, healthy = 0;
    g_autoptr(GString) status = g_string_new(NULL);
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        if (!group_settled(group))
            return;
        children += group->workers->len;
        for (guint j = 0; j < group->workers->len; j++) {
            const Worker *worker = g_ptr_array_index(group->workers, j);
            healthy += worker_healthy(worker);
            if (!worker_healthy(worker))
                g_string_append_printf(status, "; %s[%u] is not ready: %s", group->plan->name, worker->instance,
                                       worker->last_exit ? worker->last_exit : worker_state_text(worker));
        }
    }
    g_autofree char *count = g_strdup_printf("%u of %u children are well", healthy, children);
    g_string_prepend(status, count);
    notify_ready(status->str);
    log_info("running, pid=%ld: %s", (long)getpid(), status->str);
    master->announced = true;
}

static void on_sweep(evutil_socket_t fd, short what, void *data)
{
    Master *master = data;
    bool gone = false;
    for (guint i = master->groups->len; i-- > 0;)
        if (!group_sweep(g_ptr_array_index(master->groups, i))) {
            g_ptr_array_remove_index(master->groups, i);
            gone = true;
        }
    if (master->stopping && master->groups->len == 0)
        event_base_loopbreak(master->base);
    else if (gone)
        supervisor_close_unwanted(master);
    if (!master->announced && !master->stopping)
        announce(master);
}

Master *supervisor_new(struct event_base *base, const char *config_path, Plan **plan, int state_dir)
{
    Master *master = g_new0(Master, 1);
    master->base = base;
    master->config_path = g_strdup(config_path);
    master->plan = g_steal_pointer(plan);
    master->config_copy = g_build_filename(master->plan->runtime, "config-in-force", NULL);
    master->groups = g_ptr_array_new_with_free_func((GDestroyNotify)group_free);
    master->listen = listen_new();
    master->state_dir = state_dir;
    master->since = clock_now();
    master->sweep = event_new(base, -1, 0, on_sweep, master);
    return master;
}

void supervisor_free(Master *master)
{
    pause_break(master);
    sampler_free(master->sampler);
    scaler_free(master->scaler);
    event_free(master->sweep);
    g_ptr_array_unref(master->groups);
    listen_free(master->listen);
    plan_free(master->plan);
    g_free(master->config_path);
    g_free(master->config_copy);
    g_free(master->config_text);
    g_free(master->reload_fault);
    g_free(master);
}

void supervisor_start(Master *master)
{
    master->sampler = sampler_new(master);
    for (guint i = 0; i < master->plan->runners->len; i++)
        g_ptr_array_add(master->groups, group_new(master, g_ptr_array_index(master->plan->runners, i)));
    for (guint i = 0; i < master->groups->len; i++)
        group_start(g_ptr_array_index(master->groups, i));
    master->scaler = scaler_new(master);
    supervisor_sweep_soon(master);
}

void supervisor_stop(Master *master)
{
    if (master->stopping)
        return;
    master->stopping = true;
    log_info("stopping");
    pause_break(master);
    notify_stopping();
    for (guint i = 0; i < master->groups->len; i++)
        group_change(g_ptr_array_index(master->groups, i), NULL);
    supervisor_sweep_soon(master);
}

void supervisor_sweep_soon(Master *master)
{
    event_active(master->sweep, EV_TIMEOUT, 0);
}

void supervisor_died(Master *master, pid_t pid, int status)
{
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        for (guint j = 0; j < group->workers->len; j++) {
            Worker *worker = g_ptr_array_index(group->workers, j);
            if (worker->pid == pid) {
                worker_died(worker, status);
                return;
            }
        }
    }
}

struct Group *supervisor_find(const Master *master, const char *runner)
{
    for (guint i = 0; i < master->groups->len; i++) {
        Group *group = g_ptr_array_index(master->groups, i);
        if (strcmp(group->plan->name, runner) == 0)
            return group;
    }
    return NULL;
}
