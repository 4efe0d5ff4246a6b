/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/process.h"

#include "base/contract.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/trail/trail.h"
#include "runners/process_confine.h"

/* Returns the configuration, in force for the log and for files; NULL with the error. */
static Config *configure(const Child *child, GError **error)
{
    Config *config = config_load(config_default_path(child->config), true, error);
    if (!config)
        return NULL;
    g_autofree char *label = g_strdup_printf("%s[%u]", child->runner, child->instance);
    bool to_syslog = g_strcmp0(config_string(config, "site", "log"), "syslog") == 0;
    g_set_prgname(label);
    log_open(label, to_syslog ? LOG_TARGET_SYSLOG : LOG_TARGET_STDERR);
    log_set_verbose(config_bool(config, "site", "verbose"));
    if (!process_confine(config, child->runner, error)) { /* before there are threads */
        config_free(config);
        return NULL;
    }
    if (config_bool(config, "trail", "enabled")) /* the beats tell when it cannot be kept; nobody stops work for that */
        trail_open(config_string(config, "trail", "directory"), config_size(config, "trail", "size"), label, NULL);
    fs_use_syncfs(g_strcmp0(config_string(config, "spool", "sync"), "syncfs") == 0);
    return config;
}

int process_main(const ProcessSpec *spec, void *data, int argc, char **argv)
{
    log_open(spec->name, LOG_TARGET_STDERR);
    if (argc > 1) {
        g_printerr("usage: %s\nThis program is started by listrunner-master(8); see listrunner.conf(5).\n", argv[0]);
        return CHILD_EXIT_USAGE;
    }
    g_autoptr(GError) error = NULL;
    const Child *child = child_init(spec->name, &error);
    g_autoptr(Config) config = child ? configure(child, &error) : NULL;
    if (!config)
        return child_cannot_start(error);
    const Process process = {child, config};
    bool started = spec->start(data, &process, &error);
    if (started) {
        child_ready();
        spec->work(data);
    }
    int code = started ? CHILD_EXIT_OK : child_cannot_start(error);
    spec->stop(data);
    return code;
}
