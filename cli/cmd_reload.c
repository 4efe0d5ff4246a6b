/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner reload: the master reads its configuration again. */
#include <stdio.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/control_client.h"

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(GError) cause = NULL;
    g_autoptr(ControlClient) client = control_client_open(site, &cause);
    if (!client)
        return control_client_refused(&cause, error);
    control_client_patient(client); /* names of hosts are looked up */
    json_t *reply = control_client_ask(client, json_pack("{s:s}", "verb", "reload"), error);
    if (!reply) {
        if (g_error_matches(*error, FAIL, FAIL_NEVER)) { /* what the master refuses here is the file */
            g_prefix_error(error, "the new configuration was refused, the old one stays in force:\n");
            (*error)->code = FAIL_CONFIG;
        }
        return TOOL_LATER;
    }
    json_decref(reply);
    puts("The configuration in force is the new one.");
    return TOOL_OK;
}

const Command cmd_reload = {
    .name = "reload",
    .arguments = "",
    .summary = "Make the running master read its configuration again",
    .details = "Runners whose settings changed are started again, each by itself; the others go on.\n"
               "A file with a fault changes nothing. Exit code 3: not running.",
    .run = run,
};
