/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/hosts/host_state.h"

#include <string.h>

#include "base/fail.h"
#include "store/hosts/host.h"
#include "store/maintain.h"
#include "store/place.h"

json_t *host_state(const Host *host, json_t *(*time)(int64_t time))
{
    size_t at;
    json_t *runner, *said = json_loads(host->state, 0, NULL);
    json_int_t backlog = 0;
    if (!said)
        said = json_object();
    const json_t *runners = json_object_get(said, "runners");
    const bool known = json_array_size(runners) > 0;
    json_array_foreach(runners, at, runner)
        backlog += json_integer_value(json_object_get(runner, "backlog"));
    const json_int_t waiting = json_integer_value(json_object_get(said, "waiting"));
    const char *state = host->living        ? (host->draining ? "draining" : "living")
                        : host->lease_until ? "dead"
                                            : "stopped";
    return json_pack("{ss ss so so so sI ss sO* so sb sI sI so so}", "name", host->name, "state", state, "started_at",
                     time(host->started_at), "seen_at", time(host->seen_at), "lease_until", time(host->lease_until),
                     "epoch", (json_int_t)host->epoch, "version", host->version, "schema",
                     json_object_get(said, "schema"), "backlog", known ? json_integer(backlog) : json_null(),
                     "draining", host->draining, "parts", (json_int_t)host->parts, "connections",
                     (json_int_t)host->connections, "waiting", known ? json_integer(waiting) : json_null(), "said",
                     said);
}

#define COMMANDS 3 /* of a person, of monitoring, of cron */
#define WATCH 1    /* the runner watch opens a second one when it looks */

int64_t host_state_connections(const Config *config)
{
    int64_t sum = COMMANDS;
    for (const char *const *name = config_family(config, "runner"); *name; name++) {
        g_autofree char *section = g_strconcat("runner.", *name, NULL);
        unsigned most;
        config_instances(config, *name, &most);
        if (config_bool(config, section, "start"))
            sum += most + (strcmp(*name, "watch") == 0 ? WATCH : 0);
    }
    return sum;
}

/* A host of a version that says nothing is taken for one like this. */
static void add(GString *text, const char *name, int64_t connections, int64_t own)
{
    g_string_append_printf(text, "%s%s %" G_GINT64_FORMAT "%s", text->len > 0 ? ", " : "", name,
                           connections > 0 ? connections : own, connections > 0 ? "" : " (it does not say)");
}

char *host_state_connections_fault(const Config *config, GError **error)
{
    int64_t allowed, own = host_state_connections(config), sum = own;
    const char *hostname = config_string(config, "site", "hostname");
    if (strcmp(config_string(config, "store", "driver"), "postgresql") != 0)
        return NULL;
    g_autoptr(Store) store = store_open_to_look(config, error);
    g_autoptr(GPtrArray) hosts = store ? host_all(store, error) : NULL;
    if (!hosts || !store_connections(store, &allowed, error))
        return NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    add(text, hostname, own, own);
    for (guint at = 0; at < hosts->len; at++) {
        const Host *host = hosts->pdata[at];
        if (strcmp(host->name, hostname) == 0)
            continue;
        add(text, host->name, host->connections, own);
        sum += host->connections > 0 ? host->connections : own;
    }
    return sum <= allowed ? NULL
                          : g_strdup_printf("the hosts may open %" G_GINT64_FORMAT " connections (%s), and the server "
                                            "takes %" G_GINT64_FORMAT " from this role: raise max_connections of "
                                            "PostgreSQL by %" G_GINT64_FORMAT " (or the CONNECTION LIMIT of the role "
                                            "or database), start fewer instances, or put PgBouncer between",
                                            sum, text->str, allowed, sum - allowed);
}
