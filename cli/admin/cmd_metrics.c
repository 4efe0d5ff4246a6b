/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner metrics: figures in the text format that Prometheus reads. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/control_client.h"
#include "lists/site/figures.h"

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(GError) cause = NULL, absent = NULL;
    g_autoptr(ControlClient) client = control_client_open(site, &cause);
    if (!client)
        return control_client_refused(&cause, error);
    json_t *reply = control_client_ask(client, json_pack("{s:s}", "verb", "metrics"), error);
    if (!reply)
        return TOOL_LATER;
    fputs(json_string_value(json_object_get(reply, "metrics")), stdout);
    /* The figures of the others are worth having when out does not answer. */
    const char *fault = json_string_value(json_object_get(reply, "fault"));
    if (fault)
        fprintf(stderr, "not all figures of destinations: %s\n", fault);
    const bool whole = fault == NULL;
    json_decref(reply);
    g_autoptr(GString) text = g_string_new(NULL);
    Store *store = site_store(site, false, &absent);
    bool counted = store &&
                   figures_of_store(store, config_string(site_config(site, NULL), "site", "hostname"), text, &absent);
    if (counted)
        fputs(text->str, stdout);
    else
        fprintf(stderr, "no figures of held posts, requests and parts: %s\n", absent->message);
    return whole && counted ? TOOL_OK : TOOL_NOT_SO;
}

const Command cmd_metrics = {
    .name = "metrics",
    .arguments = "",
    .summary = "Print figures of processes, destinations and what waits, for Prometheus",
    .details = "The text format, version 0.0.4. Of each instance of out the 1000 destinations with most waiting are\n"
               "shown. Exit codes: 1 out does not answer, or the database\n"
               "cannot be read; 3 not running.",
    .run = run,
};
