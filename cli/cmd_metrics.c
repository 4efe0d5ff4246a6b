/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner metrics: figures in the text format that Prometheus reads. */
#include <stdio.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/control_client.h"

static double age_of(int64_t time)
{
    return time ? (double)MAX(clock_now() - time, 0) / CLOCK_SECOND : 0;
}

/* What the database knows: posts and requests that wait for moderators, and what waits for parts on this host. */
static bool print_of_store(Site *site, GError **error)
{
    FragmentCount count;
    int64_t held, held_since, asked, asked_since;
    Store *store = site_store(site, false, error);
    if (!store || !held_count(store, &held, &held_since, error) ||
        !pending_count(store, clock_now(), &asked, &asked_since, error) ||
        !fragment_count(store, config_string(site_config(site, NULL), "site", "hostname"), &count, error))
        return false;
    const struct {
        const char *name, *help;
        double value;
    } gauges[] = {
        {"held_posts", "Posts that wait for a moderator.", (double)held},
        {"held_oldest_seconds", "How long the oldest of them has waited; 0: there is none.", age_of(held_since)},
        {"moderator_requests", "Requests to join or leave that wait for a moderator.", (double)asked},
        {"moderator_requests_oldest_seconds", "How long the oldest of them has waited; 0: there is none.",
         age_of(asked_since)},
        {"fragment_open_sets", "Messages that wait for parts.", (double)count.sets},
        {"fragment_parts", "Their parts that are there.", (double)count.parts},
        {"fragment_octets", "Octets of these.", (double)count.octets},
        {"fragment_oldest_seconds", "How long the oldest of them has waited; 0: there is none.",
         age_of(count.oldest)},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(gauges); i++) {
        const char *name = gauges[i].name;
        printf("# HELP listrunner_%s %s\n# TYPE listrunner_%s gauge\nlistrunner_%s %.17g\n", name, gauges[i].help, name,
               name, gauges[i].value);
    }
    return true;
}

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
    bool counted = print_of_store(site, &absent);
    if (!counted)
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
