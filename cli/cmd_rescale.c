/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner rescale: another number of instances until the next reload. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/control_client.h"

static int wait_seconds;

static int run(Site *site, int argc, char **argv, GError **error)
{
    guint64 instances;
    if (!g_ascii_string_to_unsigned(argv[1], 10, 1, 256, &instances, NULL) || (instances & (instances - 1)) != 0)
        return command_usage(error, "\"%s\" is no power of two from 1 to 256", argv[1]);
    g_autoptr(GError) cause = NULL;
    g_autoptr(ControlClient) client = control_client_open(site, &cause);
    if (!client)
        return control_client_refused(&cause, error);
    json_t *reply = control_client_ask(client, json_pack("{s:s,s:s,s:I}", "verb", "rescale", "runner", argv[0],
                                                         "instances", (json_int_t)instances), error);
    if (!reply)
        return TOOL_USAGE;
    json_decref(reply);
    if (wait_seconds > 0 && !control_client_settle(client, argv[0], wait_seconds, error))
        return TOOL_LATER;
    printf("%s: %u instance%s until the next reload.\n", argv[0], (unsigned)instances, instances == 1 ? "" : "s");
    return TOOL_OK;
}

static const GOptionEntry options[] = {
    {"wait", 'w', 0, G_OPTION_ARG_INT, &wait_seconds, "wait up to SECONDS until the new instances are ready",
     "SECONDS"},
    G_OPTION_ENTRY_NULL,
};

const Command cmd_rescale = {
    .name = "rescale",
    .arguments = "RUNNER INSTANCES",
    .summary = "Give a runner another number of processes until the next reload",
    .details = "INSTANCES is a power of two from 1 to 256. All old processes of the runner end before the first new\n"
               "one starts; other runners are not disturbed. Exit code 3: not running.",
    .least = 2,
    .most = 2,
    .options = options,
    .run = run,
};
