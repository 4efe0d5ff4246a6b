/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner stop, restart, reload, rescale: orders to the running master. */
#include <stdio.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/control_client.h"

static int wait_seconds;

/* Give the order (consumed) to the master. NULL: it was not carried out, and *code is what the verb returns. */
static ControlClient *order(Site *site, json_t *request, bool patient, int *code, GError **error)
{
    g_autoptr(GError) cause = NULL;
    g_autoptr(ControlClient) client = control_client_open(site, &cause);
    if (!client) {
        json_decref(request);
        *code = control_client_refused(&cause, error);
        return NULL;
    }
    if (patient)
        control_client_patient(client);
    json_t *reply = control_client_ask(client, request, error);
    *code = TOOL_LATER;
    json_decref(reply);
    return reply ? g_steal_pointer(&client) : NULL;
}

static int run_stop(Site *site, int argc, char **argv, GError **error)
{
    int code;
    g_autoptr(ControlClient) client = order(site, json_pack("{s:s}", "verb", "stop"), false, &code, error);
    if (!client)
        return code;
    control_client_wait_end(client);
    puts("Listrunner has stopped.");
    return TOOL_OK;
}

static int run_restart(Site *site, int argc, char **argv, GError **error)
{
    int code;
    json_t *request = json_pack("{s:s s:s*}", "verb", "restart", "runner", argc > 0 ? argv[0] : NULL);
    g_autoptr(ControlClient) client = order(site, request, false, &code, error);
    if (!client)
        return code;
    if (wait_seconds > 0 && !control_client_settle(client, argc > 0 ? argv[0] : NULL, wait_seconds, error))
        return TOOL_LATER;
    printf("%s: started again.\n", argc > 0 ? argv[0] : "all runners");
    return TOOL_OK;
}

static int run_reload(Site *site, int argc, char **argv, GError **error)
{
    int code;
    /* It takes its time: names of hosts are looked up. */
    g_autoptr(ControlClient) client = order(site, json_pack("{s:s}", "verb", "reload"), true, &code, error);
    if (client) {
        puts("The configuration in force is the new one.");
        return TOOL_OK;
    }
    if (g_error_matches(*error, FAIL, FAIL_NEVER)) { /* what the master refuses here is the file */
        g_prefix_error(error, "the new configuration was refused, the old one stays in force:\n");
        (*error)->code = FAIL_CONFIG;
    }
    return code;
}

static int run_rescale(Site *site, int argc, char **argv, GError **error)
{
    int code;
    guint64 instances;
    if (!g_ascii_string_to_unsigned(argv[1], 10, 1, 256, &instances, NULL) || (instances & (instances - 1)) != 0)
        return command_usage(error, "\"%s\" is no power of two from 1 to 256", argv[1]);
    json_t *request = json_pack("{s:s,s:s,s:I}", "verb", "rescale", "runner", argv[0], "instances",
                                (json_int_t)instances);
    g_autoptr(ControlClient) client = order(site, request, false, &code, error);
    if (!client)
        return code;
    if (wait_seconds > 0 && !control_client_settle(client, argv[0], wait_seconds, error))
        return TOOL_LATER;
    g_autofree char *section = g_strconcat("runner.", argv[0], NULL);
    const Config *config = site_config(site, NULL);
    bool by_load = config && config_has_section(config, section) &&
                   config_integer(config, section, "instances") == 0; /* auto */
    printf("%s: %u instance%s until the next reload%s.\n", argv[0], (unsigned)instances, instances == 1 ? "" : "s",
           by_load ? ", or until the load asks for another number" : "");
    return TOOL_OK;
}

static const GOptionEntry wait_options[] = {
    {"wait", 'w', 0, G_OPTION_ARG_INT, &wait_seconds, "wait up to SECONDS until the new processes are ready",
     "SECONDS"},
    G_OPTION_ENTRY_NULL,
};

const Command cmd_stop = {
    .name = "stop",
    .arguments = "",
    .summary = "Stop the master and all runners, and wait until they have ended",
    .details = "Each process finishes its entry, but no longer than [master] stop_timeout. Exit code 3: not running.",
    .run = run_stop,
};

const Command cmd_restart = {
    .name = "restart",
    .arguments = "[RUNNER]",
    .summary = "Start a runner's processes again, or those of all runners",
    .details = "Each process finishes its entry first. The master goes on; to replace the master, stop and start.\n"
               "Exit code 3: not running.",
    .most = 1,
    .options = wait_options,
    .run = run_restart,
};

const Command cmd_reload = {
    .name = "reload",
    .arguments = "",
    .summary = "Make the running master read its configuration again",
    .details = "Runners whose settings changed are started again, each by itself; the others go on.\n"
               "A file with a fault changes nothing. Exit code 3: not running.",
    .run = run_reload,
};

const Command cmd_rescale = {
    .name = "rescale",
    .arguments = "RUNNER INSTANCES",
    .summary = "Give a runner another number of processes until the next reload",
    .details = "INSTANCES is a power of two from 1 to 256. All old processes of the runner end before the first new\n"
               "one starts; other runners are not disturbed. Exit code 3: not running.",
    .least = 2,
    .most = 2,
    .options = wait_options,
    .run = run_rescale,
};
