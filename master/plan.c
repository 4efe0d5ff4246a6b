/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/config_table.h"
#include "base/certificate.h"
#include "base/fail.h"
#include "base/log.h"

#define READ_TRIES 5

static void append_value(GString *text, const Config *config, const char *section, const ConfigKey *key)
{
    g_string_append_printf(text, "[%s] %s=", section, key->name);
    switch (key->type) {
    case CONFIG_INTEGER:
    case CONFIG_COUNT:
        g_string_append_printf(text, "%" PRId64, config_integer(config, section, key->name));
        break;
    case CONFIG_BOOL:
        g_string_append(text, config_bool(config, section, key->name) ? "yes" : "no");
        break;
    case CONFIG_DURATION:
        g_string_append_printf(text, "%" PRId64, config_duration(config, section, key->name));
        break;
    case CONFIG_SIZE:
        g_string_append_printf(text, "%" PRIu64, config_size(config, section, key->name));
        break;
    case CONFIG_LIST: {
        const char *const *words = config_list(config, section, key->name);
        for (; words && *words; words++)
            g_string_append_printf(text, "%s,", *words);
        break;
    }
    case CONFIG_STRING:
    case CONFIG_PATH:
    case CONFIG_CHOICE:
    case CONFIG_SECRET:
    case CONFIG_RATE:
    case CONFIG_FEEDBACK:
    case CONFIG_REGEX: {
        const char *value = config_string(config, section, key->name);
        g_string_append(text, value ? value : "(unset)");
        break;
    }
    }
    g_string_append_c(text, '\n');
}

/* The text of every setting that the runner reads. */
static char *depends_text(const Config *config, const char *name)
{
    GString *text = g_string_new(NULL);
    g_autofree const char **sections = config_sections(config);
    for (const char **section = sections; *section; section++) {
        const ConfigMember *member = NULL;
        for (unsigned i = 0; (member = config_member(i)) && strcmp(member->section, *section) != 0;)
            i++;
        bool whole = strcmp(*section, name) == 0 || (member && config_read_by(member->readers, name));
        const ConfigTable *table;
        for (unsigned i = 0; (table = config_table(i)); i++) {
            if (!config_table_covers(table, *section))
                continue;
            bool all = whole || config_read_by(table->readers, name);
            for (const ConfigKey *key = table->keys; key && key->name; key++)
                if (all || config_read_by(key->readers, name))
                    append_value(text, config, *section, key);
        }
    }
    /* The x_ keys of an outside runner are in no table. */
    g_autofree char *own = g_strdup_printf("runner.%s", name);
    g_auto(GStrv) extras = config_extra_names(config, own);
    for (char **extra = extras; *extra; extra++)
        g_string_append_printf(text, "%s=%s\n", *extra, config_extra(config, own, *extra));
    return g_string_free(text, FALSE);
}

static unsigned socket_mode(const Config *config, const char *section, const char *key)
{
    return (unsigned)g_ascii_strtoull(config_string(config, section, key), NULL, 8);
}

Plan *plan_new(const Config *config)
{
    Plan *plan = g_new0(Plan, 1);
    plan->runners = g_ptr_array_new_with_free_func((GDestroyNotify)plan_runner_free);
    plan->certificates = certificate_files(config);
    plan->spool = g_strdup(config_string(config, "spool", "directory"));
    plan->runtime = g_strdup(config_string(config, "master", "runtime_directory"));
    plan->monitor_mode = socket_mode(config, "master", "monitor_socket_mode");
    plan->user = g_strdup(config_string(config, "site", "user"));
    plan->limits = (PlanLimits){
        .throttle = {.min = config_duration(config, "master", "restart_delay_min"),
                     .max = config_duration(config, "master", "restart_delay_max"),
                     .quiet = config_duration(config, "master", "restart_quiet")},
        .stall_timeout = config_duration(config, "master", "stall_timeout"),
        .stop_timeout = config_duration(config, "master", "stop_timeout"),
        .scale_interval = config_duration(config, "master", "scale_interval"),
    };
    for (const char *const *name = config_family(config, "runner"); *name; name++) {
        g_autofree char *section = g_strdup_printf("runner.%s", *name);
        if (!config_bool(config, section, "start"))
            continue;
        const char *command = config_string(config, section, "command");
        const char *queue = config_string(config, section, "queue");
        const char *const *listen = config_list(config, section, "listen");
        PlanRunner *runner = g_new0(PlanRunner, 1);
        runner->name = g_strdup(*name);
        runner->command = command ? g_strdup(command) : g_build_filename(LIBEXECDIR, *name, NULL);
        runner->queue = g_strdup(queue ? queue : *name);
        runner->instances = runner->least = config_instances(config, *name, &runner->most);
        runner->listen = listen ? g_strdupv((char **)listen) : g_new0(char *, 1);
        runner->socket_mode = socket_mode(config, section, "socket_mode");
        runner->depends = depends_text(config, *name);
        runner->unconfined = config_unconfined(config, *name);
        g_ptr_array_add(plan->runners, runner);
    }
    return plan;
}

static char *read_file(const char *path, GError **error)
{
    g_autoptr(GError) cause = NULL;
    char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, &cause))
        fail(error, FAIL_CONFIG, "%s", cause->message);
    return text;
}

Plan *plan_read(const char *path, char **text, GError **error)
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

void plan_free(Plan *plan)
{
    g_ptr_array_unref(plan->runners);
    g_ptr_array_unref(plan->certificates);
    g_free(plan->spool);
    g_free(plan->runtime);
    g_free(plan->user);
    g_free(plan);
}

PlanRunner *plan_find(const Plan *plan, const char *name)
{
    for (guint i = 0; i < plan->runners->len; i++) {
        PlanRunner *runner = g_ptr_array_index(plan->runners, i);
        if (strcmp(runner->name, name) == 0)
            return runner;
    }
    return NULL;
}

bool plan_instances_valid(int64_t instances)
{
    return instances >= 1 && instances <= 256 && (instances & (instances - 1)) == 0;
}

PlanRunner *plan_runner_copy(const PlanRunner *runner)
{
    PlanRunner *copy = g_new0(PlanRunner, 1);
    copy->name = g_strdup(runner->name);
    copy->command = g_strdup(runner->command);
    copy->queue = g_strdup(runner->queue);
    copy->instances = runner->instances;
    copy->least = runner->least;
    copy->most = runner->most;
    copy->listen = g_strdupv(runner->listen);
    copy->socket_mode = runner->socket_mode;
    copy->depends = g_strdup(runner->depends);
    copy->unconfined = g_strdup(runner->unconfined);
    return copy;
}

void plan_runner_free(PlanRunner *runner)
{
    g_free(runner->name);
    g_free(runner->command);
    g_free(runner->queue);
    g_strfreev(runner->listen);
    g_free(runner->depends);
    g_free(runner->unconfined);
    g_free(runner);
}

bool plan_runner_equal(const PlanRunner *a, const PlanRunner *b)
{
    return strcmp(a->command, b->command) == 0 && strcmp(a->queue, b->queue) == 0 && a->instances == b->instances &&
           g_strv_equal((const char *const *)a->listen, (const char *const *)b->listen) &&
           strcmp(a->depends, b->depends) == 0;
}

bool plan_can_follow(const Plan *old, const Plan *next, GError **error)
{
    const struct {
        const char *key, *before, *after;
    } fixed[] = {
        {"[spool] directory", old->spool, next->spool},
        {"[master] runtime_directory", old->runtime, next->runtime},
        {"[site] user", old->user, next->user},
    };
    g_autoptr(GString) faults = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++)
        if (g_strcmp0(fixed[i].before, fixed[i].after) != 0)
            g_string_append_printf(faults, "%s%s: changed from %s to %s; only a stop and a start can change it",
                                   faults->len ? "\n" : "", fixed[i].key, fixed[i].before ? fixed[i].before : "nothing",
                                   fixed[i].after ? fixed[i].after : "nothing");
    return faults->len == 0 || fail(error, FAIL_CONFIG, "%s", faults->str);
}
