/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner dest: what the runner out knows of destinations, and orders about them. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/control_client.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/queues/destinations.h"

static char *transport;
static int limit = 1000;

static int ask(Site *site, json_t *request, json_t **found, GError **error)
{
    g_autoptr(GError) cause = NULL;
    if (transport)
        json_object_set_new(request, "transport", json_string(transport));
    *found = destinations_ask(site, request, &cause);
    return *found ? TOOL_OK : control_client_refused(&cause, error);
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"name", "DESTINATION", COLUMN_TEXT},     {"transport", "TRANSPORT", COLUMN_TEXT},
        {"instance", "INST", COLUMN_NUMBER},      {"state", "STATE", COLUMN_TEXT},
        {"window", "WINDOW", COLUMN_NUMBER},      {"busy", "BUSY", COLUMN_NUMBER},
        {"waiting_recipients", "WAITING", COLUMN_NUMBER}, {"rate", "RATE", COLUMN_TEXT},
        {"sent", "SENT", COLUMN_NUMBER},          {"deferred", "DEFERRED", COLUMN_NUMBER},
        {"bounced", "BOUNCED", COLUMN_NUMBER},    {NULL, NULL, COLUMN_TEXT}};
    json_t *found;
    if (limit < 0)
        return command_usage(error, "--limit: %d destinations cannot be shown; 0 and more can", limit);
    json_t *request = json_pack("{s:s,s:i}", "verb", "destinations", "limit", limit);
    int code = ask(site, request, &found, error);
    if (!found)
        return code;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    size_t i;
    json_t *destination;
    json_array_foreach(found, i, destination)
        listing_row(listing, json_incref(destination));
    json_decref(found);
    return TOOL_OK;
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    size_t i;
    json_t *found, *destination;
    int code = ask(site, json_pack("{s:s,s:s}", "verb", "destinations", "name", argv[0]), &found, error);
    if (!found)
        return code;
    json_array_foreach(found, i, destination) {
        if (!json_option)
            json_object_del(destination, "seconds"); /* a histogram is for programs */
        if (i > 0 && !json_option)
            putchar('\n');
        listing_show(json_incref(destination), json_option);
    }
    bool none = json_array_size(found) == 0;
    json_decref(found);
    if (none)
        plain_complain("No destination %s is known now.", argv[0]);
    return none ? TOOL_MISSING : TOOL_OK;
}

/* kind is the verb, "suspend", "resume" or "rate"; the last one has an argument. */
static int run_order(Site *site, const void *kind, char **argv, GError **error)
{
    json_t *found;
    json_t *request = json_pack("{s:s,s:s,s:s*}", "verb", (const char *)kind, "name", argv[0], "rate", argv[1]);
    int code = ask(site, request, &found, error);
    if (!found)
        return code;
    size_t i;
    json_t *destination;
    json_array_foreach(found, i, destination)
        printf("%s (transport %s, instance %d): %s, rate %s.\n",
               json_string_value(json_object_get(destination, "name")),
               json_string_value(json_object_get(destination, "transport")),
               (int)json_integer_value(json_object_get(destination, "instance")),
               json_string_value(json_object_get(destination, "state")),
               json_string_value(json_object_get(destination, "rate")));
    json_decref(found);
    return TOOL_OK;
}

#define TRANSPORT_OPTION \
    {"transport", 't', 0, G_OPTION_ARG_STRING, &transport, "only of [transport.NAME]", "NAME"}

static const GOptionEntry ls_options[] = {
    JSON_ROWS_OPTION,
    {"limit", 'n', 0, G_OPTION_ARG_INT, &limit, "at most so many of each instance (1000)", "COUNT"},
    TRANSPORT_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry show_options[] = {
    JSON_ROWS_OPTION,
    TRANSPORT_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry order_options[] = {
    TRANSPORT_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const Command dest_ls = {
    .name = "ls",
    .arguments = "",
    .summary = "List destinations, those with most recipients waiting first",
    .details = "WAITING counts recipients in memory; more may be in the queues. SENT, DEFERRED and BOUNCED count\n"
               "recipients since the instance started.",
    .options = ls_options,
    .run = run_ls,
};

static const Command dest_show = {
    .name = "show",
    .arguments = "DESTINATION",
    .summary = "Show all that is known of a destination",
    .details = "DESTINATION is its name, or a domain that it serves.",
    .least = 1,
    .most = 1,
    .options = show_options,
    .run = run_show,
};

static const Command dest_suspend = {
    .name = "suspend",
    .arguments = "DESTINATION",
    .summary = "Send nothing more to a destination until it is resumed",
    .details = "What is under way comes to its end; the rest waits. It holds across restarts.",
    .least = 1,
    .most = 1,
    .options = order_options,
    .run_kind = run_order,
    .kind = "suspend",
};

static const Command dest_resume = {
    .name = "resume",
    .arguments = "DESTINATION",
    .summary = "Send to a destination again that was suspended, is dead or slowed down",
    .least = 1,
    .most = 1,
    .options = order_options,
    .run_kind = run_order,
    .kind = "resume",
};

static const Command dest_rate = {
    .name = "rate",
    .arguments = "DESTINATION RATE",
    .summary = "Limit the recipients that a destination gets in a time",
    .details = "RATE is COUNT/UNIT with the unit s, m, h or d (0.5/s, 30/m, 20000/d), none (or 0) for no limit, or\n"
               "default for the transport's again. Instances of out share the rate of a relay. It holds across\n"
               "restarts.",
    .least = 2,
    .most = 2,
    .options = order_options,
    .run_kind = run_order,
    .kind = "rate",
};

static const Command *const verbs[] = {
    &dest_ls, &dest_show, &dest_suspend, &dest_resume, &dest_rate, NULL,
};

const Command cmd_dest = {
    .name = "dest",
    .arguments = "",
    .summary = "Look at the destinations of outgoing mail, suspend or slow one",
    .verbs = verbs,
};
