/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner probe: a mail through the MTA and back. */
#include <stdio.h>

#include "base/fail.h"
#include "cli/admin/probe.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "lists/site/round_trip.h"
#include "store/lists/domain.h"

static int patience = 60; /* seconds */

static int run(Site *site, int argc, char **argv, GError **error)
{
    static const char *const words[] = {
        [PROBE_BACK] = "back",
        [PROBE_NOT_SENT] = "not sent",
        [PROBE_NOT_HANDED] = "not handed in",
        [PROBE_NOT_COPIED] = "not copied",
    };
    g_autoptr(GError) cause = NULL;
    g_autoptr(ControlClient) running = control_client_open(site, &cause);
    if (!running)
        return control_client_refused(&cause, error);
    Store *store = site_store(site, false, error);
    g_autoptr(GPtrArray) all = store && argc == 0 ? domain_all(store, error) : NULL;
    if (all && all->len == 0)
        fail(error, FAIL_MISSING, "there is no domain yet: listrunner setup, or listrunner domain create DOMAIN");
    const char *domain = argc > 0 ? argv[0] : all && all->len > 0 ? ((const Domain *)all->pdata[0])->mail_host : NULL;
    ProbeResult result = {0};
    if (!store || !domain || !probe_run(site, domain, patience, &result, error))
        return TOOL_LATER;
    g_autofree char *text = probe_text(&result, site_config(site, NULL), domain);
    bool back = result.end == PROBE_BACK;
    if (json_option) {
        json_t *row = json_pack("{ss sb ss sf ss}", "domain", domain, "back", back, "state", words[result.end],
                                "seconds", (double)result.took / G_USEC_PER_SEC, "text", text);
        listing_json(row);
        json_decref(row);
    } else if (back) {
        puts(text);
    } else {
        plain_complain("%s", text);
    }
    return back ? TOOL_OK : TOOL_NOT_SO;
}

static const GOptionEntry options[] = {
    {"timeout", 0, 0, G_OPTION_ARG_INT, &patience, "how long to wait until it is back (default 60)", "SECONDS"},
    JSON_OBJECT_OPTION,
    G_OPTION_ENTRY_NULL,
};

const Command cmd_probe = {
    .name = "probe",
    .arguments = "[DOMAIN]",
    .summary = "Send a mail through the mail server and back, and say how far it came",
    .details = "Two lists are made in the domain (by default the first one) for as long as it takes, " ROUND_TRIP_PROBE
               "\n"
               "and " ROUND_TRIP_PROBE
               "-return. The mail goes out to the mail server, comes back to the first one, and\n"
               "its copy by the same way to the second. Exit codes: 1 it did not come back; 3 not running; 66 there\n"
               "is no such domain.",
    .most = 1,
    .options = options,
    .run = run,
};
