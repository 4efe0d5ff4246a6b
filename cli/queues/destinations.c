/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queues/destinations.h"

#include "base/fail.h"
#include "cli/control_client.h"

#define RUNNER "out"

json_t *destinations_ask(Site *site, json_t *request, GError **error)
{
    size_t at;
    json_t *group, *destination, *all = json_array();
    json_int_t count = 0; /* instances that are ready */
    g_autoptr(ControlClient) master = control_client_open(site, error);
    json_t *status = master ? control_client_ask(master, json_pack("{s:s}", "verb", "status"), error) : NULL;
    json_array_foreach(json_object_get(status, "runners"), at, group)
        if (g_strcmp0(json_string_value(json_object_get(group, "runner")), RUNNER) == 0)
            count = json_integer_value(json_object_get(group, "instances"));
    bool good = status && (count > 0 || fail(error, FAIL_MISSING, "no instance of the runner " RUNNER " runs"));
    json_decref(status);
    g_clear_pointer(&master, control_client_free);
    for (json_int_t instance = 0; good && instance < count; instance++) {
        g_autoptr(ControlClient) client = control_client_open_runner(site, RUNNER, (unsigned)instance, error);
        json_t *reply = client ? control_client_ask(client, json_incref(request), error) : NULL;
        json_array_foreach(json_object_get(reply, "destinations"), at, destination) {
            json_object_set_new(destination, "instance", json_integer(instance));
            json_array_append(all, destination);
        }
        good = reply != NULL;
        json_decref(reply);
    }
    json_decref(request);
    if (good)
        return all;
    json_decref(all);
    return NULL;
}
