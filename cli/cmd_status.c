/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner status: what the master and its children do. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "cli/destinations.h"
#include "cli/listing.h"
#include "cli/plain.h"

#define WATCH_PAUSE 2 /* seconds */

static gboolean as_json, watching;

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* "3s", "12m", "5h", "8d": the largest unit that is not zero. */
static const char *span(char *text, size_t size, double seconds)
{
    static const struct {
        double length;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}};
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        if (seconds >= 2 * units[i].length) {
            g_snprintf(text, size, "%.0f%c", seconds / units[i].length, units[i].unit);
            return text;
        }
    g_snprintf(text, size, "%.0fs", MAX(seconds, 0));
    return text;
}

static const char *span_or_dash(char *text, size_t size, const json_t *seconds)
{
    return json_is_number(seconds) ? span(text, size, json_number_value(seconds)) : "-";
}

/* How long the oldest entry has been due. */
static const char *oldest(char *text, size_t size, const json_t *child)
{
    const char *due = text_of(child, "oldest");
    if (!due)
        return "-";
    return span(text, size, (double)clock_now() / (double)CLOCK_SECOND - g_ascii_strtod(due, NULL));
}

static void print_child(const char *runner, const json_t *child)
{
    char pid[16] = "-", age[16], beat[16], due[16], retry[16];
    bool well = json_is_true(json_object_get(child, "healthy"));
    const char *last = text_of(child, "last_exit"), *holding = text_of(child, "holding");
    if (json_is_integer(json_object_get(child, "pid")))
        g_snprintf(pid, sizeof pid, "%" JSON_INTEGER_FORMAT, number_of(child, "pid"));
    printf("%-12s %4" JSON_INTEGER_FORMAT " %8s %5s  %-18s %8" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT
           " %8" JSON_INTEGER_FORMAT " %6s %5s\n",
           runner, number_of(child, "instance"), pid, span_or_dash(age, sizeof age, json_object_get(child, "age")),
           json_is_true(json_object_get(child, "stalled")) ? "STALLED" : text_of(child, "state"),
           number_of(child, "restarts"), number_of(child, "done"), number_of(child, "backlog"),
           oldest(due, sizeof due, child), span_or_dash(beat, sizeof beat, json_object_get(child, "beat_age")));
    if (!well && holding)
        printf("             holds %s\n", holding);
    if (!well && last) {
        g_autofree char *shown = plain_text(last);
        printf("             last: %s\n", shown);
    }
    if (json_is_number(json_object_get(child, "retry_in")))
        printf("             starts again in %s\n",
               span_or_dash(retry, sizeof retry, json_object_get(child, "retry_in")));
}

static void print_table(const json_t *status)
{
    size_t i, j;
    json_t *group, *child;
    printf("Listrunner %s, master pid %" JSON_INTEGER_FORMAT ", %s since %s, configuration %s\n",
           text_of(status, "version"), number_of(status, "pid"), text_of(status, "state"), text_of(status, "since"),
           text_of(status, "config"));
    if (text_of(status, "fault"))
        printf("The last reload was refused, the old configuration is in force:\n%s\n", text_of(status, "fault"));
    printf("\n%-12s %4s %8s %5s  %-18s %8s %10s %8s %6s %5s\n", "RUNNER", "INST", "PID", "AGE", "STATE", "RESTARTS",
           "DONE", "BACKLOG", "OLDEST", "BEAT");
    json_array_foreach(json_object_get(status, "runners"), i, group) {
        const char *name = text_of(group, "runner"), *state = text_of(group, "state");
        if (g_strcmp0(state, "running") != 0 && g_strcmp0(state, "stopping") != 0)
            printf("%-12s is %s: %" JSON_INTEGER_FORMAT " instances now, %" JSON_INTEGER_FORMAT " wanted\n", name,
                   state, number_of(group, "instances"), number_of(group, "wanted"));
        json_array_foreach(json_object_get(group, "children"), j, child)
            print_child(name, child);
    }
    printf("\n%s\n", json_is_true(json_object_get(status, "healthy")) ? "All is well."
                                                                      : "NOT ALL IS WELL: see above.");
}

/* What waits for parts on this host. The master knows no database, so this is looked up here; null when it cannot
 * be. */
static json_t *fragments_json(Site *site)
{
    Store *store = site_store(site, false, NULL);
    FragmentCount count;
    if (!store || !fragment_count(store, config_string(site_config(site, NULL), "site", "hostname"), &count, NULL))
        return json_null();
    return json_pack("{sI sI sI so}", "open_sets", (json_int_t)count.sets, "parts", (json_int_t)count.parts, "octets",
                     (json_int_t)count.octets, "oldest", listing_time(count.oldest));
}

static void print_fragments(const json_t *fragments)
{
    if (number_of(fragments, "open_sets") > 0)
        printf("\n%" JSON_INTEGER_FORMAT " messages wait for parts: %" JSON_INTEGER_FORMAT " parts, "
               "%" JSON_INTEGER_FORMAT " octets, the oldest since %s.\n",
               number_of(fragments, "open_sets"), number_of(fragments, "parts"), number_of(fragments, "octets"),
               text_of(fragments, "oldest"));
}

static int show_once(Site *site, ControlClient *client, GError **error)
{
    json_t *status = control_client_ask(client, json_pack("{s:s}", "verb", "status"), error);
    if (!status)
        return TOOL_LATER;
    json_object_set_new(status, "fragments", fragments_json(site));
    int code = json_is_true(json_object_get(status, "healthy")) ? TOOL_OK : TOOL_NOT_SO;
    if (as_json) {
        /* Absent while no instance of out can be asked. */
        json_t *destinations = destinations_ask(site, json_pack("{s:s}", "verb", "destinations"), NULL);
        if (destinations)
            json_object_set_new(status, "destinations", destinations);
        json_dumpf(status, stdout, watching ? JSON_COMPACT : JSON_INDENT(2));
        putchar('\n');
    } else {
        if (watching && isatty(STDOUT_FILENO))
            fputs("\033[H\033[J", stdout);
        print_table(status);
        print_fragments(json_object_get(status, "fragments"));
    }
    fflush(stdout);
    json_decref(status);
    return code;
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(GError) cause = NULL;
    g_autoptr(ControlClient) client = control_client_open(site, &cause);
    if (!client)
        return control_client_refused(&cause, error);
    int code = show_once(site, client, error);
    while (watching && (code == TOOL_OK || code == TOOL_NOT_SO) && !ferror(stdout)) {
        sleep(WATCH_PAUSE);
        code = show_once(site, client, error);
    }
    return code;
}

static const GOptionEntry options[] = {
    {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "print all as JSON, destinations too", NULL},
    {"watch", 'w', 0, G_OPTION_ARG_NONE, &watching, "print it again every two seconds", NULL},
    G_OPTION_ENTRY_NULL,
};

const Command cmd_status = {
    .name = "status",
    .arguments = "",
    .summary = "Show the master and every process: state, restarts, backlog, last exit",
    .details = "Exit codes: 0 all is well; 1 a process is dead, throttled or stalled; 3 not running.",
    .options = options,
    .run = run,
};
