/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner restart: the children of one runner, or of all, anew. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/control_client.h"

static int wait_seconds;

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(GError) cause = NULL;
    g_autoptr(ControlClient) client = control_client_open(site, &cause);
    if (!client)
        return control_client_refused(&cause, error);
    json_t *request = json_pack("{s:s}", "verb", "restart");
    if (argc > 0)
        json_object_set_new(request, "runner", json_string(argv[0]));
    json_t *reply = control_client_ask(client, request, error);
    if (!reply)
        return TOOL_USAGE;
    json_decref(reply);
    if (wait_seconds > 0 && !control_client_settle(client, argc > 0 ? argv[0] : NULL, wait_seconds, error))
        return TOOL_LATER;
    printf("%s: started again.\n", argc > 0 ? argv[0] : "all runners");
    return TOOL_OK;
}

static const GOptionEntry options[] = {
    {"wait", 'w', 0, G_OPTION_ARG_INT, &wait_seconds, "wait up to SECONDS until the new processes are ready",
     "SECONDS"},
    G_OPTION_ENTRY_NULL,
};

const Command cmd_restart = {
    .name = "restart",
    .arguments = "[RUNNER]",
    .summary = "Start a runner's processes again, or those of all runners",
    .details = "Each process finishes its entry first. The master goes on; to replace the master, stop and start.\n"
               "Exit code 3: not running.",
    .most = 1,
    .options = options,
    .run = run,
};
