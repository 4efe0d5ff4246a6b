/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner stop: ends the master and waits for it. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/control_client.h"

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(GError) cause = NULL;
    g_autoptr(ControlClient) client = control_client_open(site, &cause);
    if (!client)
        return control_client_refused(&cause, error);
    json_t *reply = control_client_ask(client, json_pack("{s:s}", "verb", "stop"), error);
    if (!reply)
        return TOOL_LATER;
    json_decref(reply);
    control_client_wait_end(client);
    puts("Listrunner has stopped.");
    return TOOL_OK;
}

const Command cmd_stop = {
    .name = "stop",
    .arguments = "",
    .summary = "Stop the master and all runners, and wait until they have ended",
    .details = "Each process finishes its entry, but no longer than [master] stop_timeout. Exit code 3: not running.",
    .run = run,
};
