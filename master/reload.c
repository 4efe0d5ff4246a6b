/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/reload.h"

#include <string.h>

#include "base/config.h"
#include "base/fail.h"
#include "base/log.h"
#include "master/group.h"
#include "master/notify.h"
#include "master/scaler.h"

#define READ_TRIES 5

static char *read_file(const char *path, GError **error)
{
    g_autoptr(GError) cause = NULL;
    char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, &cause))
        fail(error, FAIL_CONFIG, "%s", cause->message);
    return text;
}

Plan *reload_read(const char *path, char **text, GError **error)
{
    for (int i = 0; i < READ_TRIES; i++) {
        g_autofree char *before = read_file(path, error);
        if (!before)
            return NULL;
        g_autoptr(Config) config = config_load(path, false, error);
        g_autoptr(Plan) plan = config ? plan_new(config) : NULL;
        if (!plan)
            return NULL;
        g_autofree char *after = read_file(path, error);
        if (!after)
            return NULL;
        if (strcmp(before, after) == 0) { /* it was not being written meanwhile */
            const char *target = config_string(config, "site", "log");
            log_open("master", g_strcmp0(target, "syslog") == 0 ? LOG_TARGET_SYSLOG : LOG_TARGET_STDERR);
            log_set_verbose(config_bool(config, "site", "verbose"));
            *text = g_steal_pointer(&after);
            return g_steal_pointer(&plan);
        }
    }
    fail(error, FAIL_CONFIG, "%s changes while it is read", path);
    return NULL;
}

bool reload_keep(Master *master, const char *text, GError **error)
{
    g_autoptr(GError) cause = NULL;
    if (!g_file_set_contents_full(master->config_copy, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &cause))
        return fail(error, FAIL_LATER, "%s", cause->message);
    if (text != master->config_text) {
        g_free(master->config_text);
        master->config_text = g_strdup(text);
    }
    return true;
}

/* Two runners would take one another's connections. */
static bool is_only_owner(const Master *master, const char *address, const char *runner, GHashTable *owners,
                          GError **error)
{
    g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(int));
    listen_fds(master->listen, address, fds);
    for (guint i = 0; i < fds->len; i++) {
        gpointer fd = GINT_TO_POINTER(g_array_index(fds, int, i));
        const char *other = g_hash_table_lookup(owners, fd);
        if (other && strcmp(other, runner) != 0)
            return fail(error, FAIL_CONFIG, "%s is an address of [runner.%s], too", address, other);
        g_hash_table_insert(owners, fd, (gpointer)runner);
    }
    return true;
}

bool reload_bind(Master *master, const Plan *plan, GError **error)
{
    g_autoptr(GString) faults = g_string_new(NULL);
    g_autoptr(GHashTable) owners = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (guint i = 0; i < plan->runners->len; i++) {
        const PlanRunner *runner = g_ptr_array_index(plan->runners, i);
        for (char **address = runner->listen; *address; address++) {
            g_autoptr(GError) fault = NULL;
            if (!listen_add(master->listen, *address, runner->socket_mode, &fault) ||
                !is_only_owner(master, *address, runner->name, owners, &fault))
                g_string_append_printf(faults, "%s[runner.%s] listen: %s", faults->len ? "\n" : "", runner->name,
                                       fault->message);
        }
    }
    return faults->len == 0 || fail(error, FAIL_CONFIG, "%s", faults->str);
}

static void apply_plan(Master *master, Plan **next)
{
    plan_tell_unconfined(*next, master->plan);
    bool other_interval = (*next)->limits.scale_interval != master->plan->limits.scale_interval;
    plan_free(master->plan);
    master->plan = g_steal_pointer(next);
    if (other_interval)
        scaler_wait(master->scaler);
    for (guint i = 0; i < master->groups->len; i++) {
        Group *group = g_ptr_array_index(master->groups, i);
        PlanRunner *wanted = plan_find(master->plan, group->plan->name);
        const PlanRunner *goal = group_goal(group);
        if (wanted)
            scaler_keep(group, wanted);
        if (!wanted ? goal != NULL : !goal || !plan_runner_equal(goal, wanted))
            group_change(group, wanted);
        else if (!group->changing)
            group_refresh(group);
    }
    for (guint i = 0; i < master->plan->runners->len; i++) {
        const PlanRunner *wanted = g_ptr_array_index(master->plan->runners, i);
        if (supervisor_find(master, wanted->name))
            continue;
        Group *group = group_new(master, wanted);
        g_ptr_array_add(master->groups, group);
        log_info("%s: new, instances=%u", wanted->name, wanted->instances);
        group_start(group);
    }
    supervisor_sweep_soon(master);
}

bool reload_apply(Master *master, GError **error)
{
    log_reopen();
    if (master->stopping)
        return fail(error, FAIL_LATER, "the master is stopping");
    g_autoptr(GError) fault = NULL;
    g_autofree char *text = NULL;
    notify_reloading();
    g_autoptr(Plan) next = reload_read(master->config_path, &text, &fault);
    bool good = next && plan_can_follow(master->plan, next, &fault);
    if (good && (!reload_bind(master, next, &fault) || !reload_keep(master, text, &fault))) {
        supervisor_close_unwanted(master);
        good = false;
    }
    if (good)
        apply_plan(master, &next);
    g_clear_pointer(&master->reload_fault, g_free);
    if (good) {
        log_info("configuration read again: %s", master->config_path);
        notify_ready("configuration read again");
        return true;
    }
    /* The log may have been rotated, whatever the new configuration is like. */
    for (guint i = 0; i < master->groups->len; i++) {
        const Group *group = g_ptr_array_index(master->groups, i);
        for (guint j = 0; j < group->workers->len; j++)
            worker_reopen(g_ptr_array_index(group->workers, j));
    }
    master->reload_fault = g_strdup(fault->message);
    g_auto(GStrv) lines = g_strsplit(fault->message, "\n", -1);
    for (char **line = lines; *line; line++)
        log_error("%s", *line);
    log_error("the configuration was refused; the old one stays in force");
    notify_ready("the new configuration was refused; the old one stays in force");
    return fail_with(error, &fault);
}
