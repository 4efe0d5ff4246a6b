/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queues/destinations.h"

#include "base/fail.h"
#include "cli/control_client.h"

#define RUNNER "out"

/* Instances of out that are ready, -1 when the master cannot be asked. */
static int count_instances(Site *site, GError **error)
{
    g_autoptr(ControlClient) master = control_client_open(site, error);
    json_t *status = master ? control_client_ask(master, json_pack("{s:s}", "verb", "status"), error) : NULL;
    size_t i;
    json_t *group;
    int count = 0;
    json_array_foreach(json_object_get(status, "runners"), i, group)
        if (g_strcmp0(json_string_value(json_object_get(group, "runner")), RUNNER) == 0)
            count = (int)json_integer_value(json_object_get(group, "instances"));
    json_decref(status);
    return status ? count : -1;
}

static bool ask_one(Site *site, unsigned instance, json_t *request, json_t *all, GError **error)
{
    g_autoptr(ControlClient) client = control_client_open_runner(site, RUNNER, instance, error);
    json_t *reply = client ? control_client_ask(client, json_incref(request), error) : NULL;
    size_t i;
    json_t *destination;
    json_array_foreach(json_object_get(reply, "destinations"), i, destination) {
        json_object_set_new(destination, "instance", json_integer(instance));
        json_array_append(all, destination);
    }
    json_decref(reply);
    return reply != NULL;
}

json_t *destinations_ask(Site *site, json_t *request, GError **error)
{
    int count = count_instances(site, error);
    json_t *all = json_array();
    bool good = count > 0 || (count == 0 && fail(error, FAIL_MISSING, "no instance of the runner " RUNNER " runs"));
    for (int i = 0; good && i < count; i++)
        good = ask_one(site, (unsigned)i, request, all, error);
    json_decref(request);
    if (good)
        return all;
    json_decref(all);
    return NULL;
}
