/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner metrics: figures in the text format that Prometheus reads. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "cli/destinations.h"

typedef struct Metric {
    const char *key, *name, *type, *help;
} Metric;

static const Metric child_metrics[] = {
    {"healthy", "up", "gauge", "1 when the process works."},
    {"restarts", "restarts_total", "counter", "Starts after the first."},
    {"done", "done_total", "counter", "Entries (sessions of a listener) finished since its start."},
    {"backlog", "backlog", "gauge", "Entries that are ready or held."},
};

static const Metric destination_metrics[] = {
    {"window", "destination_window", "gauge", "Transactions that may be under way at once; 0: dead."},
    {"busy", "destination_busy", "gauge", "Transactions under way."},
    {"sessions", "destination_sessions", "gauge", "Connections."},
    {"waiting_recipients", "destination_waiting_recipients", "gauge", "Recipients in memory that wait."},
    {"tokens", "destination_tokens", "gauge", "What is in the token bucket."},
    {"sent", "destination_sent_total", "counter", "Recipients delivered."},
    {"deferred", "destination_deferred_total", "counter", "Recipients deferred."},
    {"bounced", "destination_bounced_total", "counter", "Recipients refused for good."},
    {"connections", "destination_connections_total", "counter", "Connections made."},
    {"refused_connections", "destination_refused_connections_total", "counter", "Connections that failed."},
    {"died", "destination_deaths_total", "counter", "Times that it was declared dead."},
    {"throttled", "destination_throttled_total", "counter", "Replies that asked for less."},
};

static void head(const char *name, const char *type, const char *help)
{
    printf("# HELP listrunner_%s %s\n# TYPE listrunner_%s %s\n", name, help, name, type);
}

static void print_value(const json_t *value)
{
    if (json_is_boolean(value))
        printf("%d\n", json_is_true(value));
    else
        printf("%.17g\n", json_number_value(value));
}

/* A label's value: backslash, quote and line feed are escaped. */
static void label(const char *name, const json_t *value, bool last)
{
    printf("%s=\"", name);
    if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    for (const char *at = json_string_value(value); at && *at; at++) {
        if (*at == '\\' || *at == '"')
            putchar('\\');
        fputs(*at == '\n' ? "\\n" : (char[]){*at, '\0'}, stdout);
    }
    fputs(last ? "\"" : "\",", stdout);
}

static void print_children(const json_t *status)
{
    for (size_t i = 0; i < G_N_ELEMENTS(child_metrics); i++) {
        const Metric *metric = &child_metrics[i];
        size_t g, c;
        json_t *group, *child;
        head(metric->name, metric->type, metric->help);
        json_array_foreach(json_object_get(status, "runners"), g, group)
            json_array_foreach(json_object_get(group, "children"), c, child) {
                printf("listrunner_%s{", metric->name);
                label("runner", json_object_get(group, "runner"), false);
                label("instance", json_object_get(child, "instance"), true);
                fputs("} ", stdout);
                print_value(json_object_get(child, metric->key));
            }
    }
}

static void destination_labels(const json_t *destination, bool last)
{
    label("transport", json_object_get(destination, "transport"), false);
    label("destination", json_object_get(destination, "name"), false);
    label("instance", json_object_get(destination, "instance"), last);
}

static void print_histogram(const json_t *destinations)
{
    static const char name[] = "destination_transaction_seconds";
    size_t i, j;
    json_t *destination, *bucket;
    head(name, "histogram", "How long transactions took.");
    json_array_foreach(destinations, i, destination) {
        const json_t *seconds = json_object_get(destination, "seconds");
        json_array_foreach(json_object_get(seconds, "buckets"), j, bucket) {
            const json_t *bound = json_array_get(bucket, 0);
            printf("listrunner_%s_bucket{", name);
            destination_labels(destination, false);
            if (json_is_number(bound))
                printf("le=\"%g\"} ", json_number_value(bound));
            else
                fputs("le=\"+Inf\"} ", stdout);
            print_value(json_array_get(bucket, 1));
        }
        for (int part = 0; part < 2; part++) {
            printf("listrunner_%s_%s{", name, part ? "count" : "sum");
            destination_labels(destination, true);
            fputs("} ", stdout);
            print_value(json_object_get(seconds, part ? "count" : "sum"));
        }
    }
}

static void print_destinations(const json_t *destinations)
{
    for (size_t i = 0; i < G_N_ELEMENTS(destination_metrics); i++) {
        const Metric *metric = &destination_metrics[i];
        size_t j;
        json_t *destination;
        head(metric->name, metric->type, metric->help);
        json_array_foreach(destinations, j, destination) {
            printf("listrunner_%s{", metric->name);
            destination_labels(destination, true);
            fputs("} ", stdout);
            print_value(json_object_get(destination, metric->key));
        }
    }
    print_histogram(destinations);
}

/* What waits for parts on this host. */
static bool print_fragments(Site *site, GError **error)
{
    FragmentCount count;
    Store *store = site_store(site, false, error);
    if (!store || !fragment_count(store, config_string(site_config(site, NULL), "site", "hostname"), &count, error))
        return false;
    const int64_t age = count.oldest ? MAX(clock_now() - count.oldest, 0) : 0;
    const struct {
        const char *name, *help;
        double value;
    } gauges[] = {
        {"fragment_open_sets", "Messages that wait for parts.", (double)count.sets},
        {"fragment_parts", "Their parts that are there.", (double)count.parts},
        {"fragment_octets", "Octets of these.", (double)count.octets},
        {"fragment_oldest_seconds", "How long the oldest of them has waited; 0: there is none.",
         (double)age / CLOCK_SECOND},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(gauges); i++) {
        head(gauges[i].name, "gauge", gauges[i].help);
        printf("listrunner_%s %.17g\n", gauges[i].name, gauges[i].value);
    }
    return true;
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(GError) cause = NULL, absent = NULL;
    g_autoptr(ControlClient) client = control_client_open(site, &cause);
    if (!client)
        return control_client_refused(&cause, error);
    json_t *status = control_client_ask(client, json_pack("{s:s}", "verb", "status"), error);
    if (!status)
        return TOOL_LATER;
    print_children(status);
    json_decref(status);
    /* The figures of the others are worth having when out does not answer. */
    json_t *destinations = destinations_ask(site, json_pack("{s:s}", "verb", "destinations"), &cause);
    if (destinations)
        print_destinations(destinations);
    else
        fprintf(stderr, "no figures of destinations: %s\n", cause->message);
    json_decref(destinations);
    bool counted = print_fragments(site, &absent);
    if (!counted)
        fprintf(stderr, "no figures of parts: %s\n", absent->message);
    return destinations && counted ? TOOL_OK : TOOL_NOT_SO;
}

const Command cmd_metrics = {
    .name = "metrics",
    .arguments = "",
    .summary = "Print figures of processes, destinations and waiting parts for Prometheus",
    .details = "The text format, version 0.0.4. Of each instance of out the 1000 destinations with most waiting are\n"
               "shown. Exit codes: 1 out does not answer, or the database\n"
               "cannot be read; 3 not running.",
    .run = run,
};
