/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/fan_out.h"

#include <jansson.h>
#include <string.h>

#include "store/hosts/host.h"
#include "switchboard/meta.h"

#define LEAST 8 /* no part is less than the greatest divided by this */

static void part_clear(gpointer data)
{
    g_free(((FanOutPart *)data)->host);
}

static double weight(const FanOutPart *part, double most, bool known)
{
    return known ? MAX(part->pace, most / LEAST) : 1;
}

void fan_out_divide(int64_t count, FanOutPart *parts, unsigned hosts)
{
    double most = 0, sum = 0, given = 0;
    bool known = true;
    for (unsigned at = 0; at < hosts; at++) {
        known = known && parts[at].pace > 0;
        most = MAX(most, parts[at].pace);
    }
    for (unsigned at = 0; at < hosts; at++)
        sum += weight(&parts[at], most, known);
    int64_t before = 0;
    for (unsigned at = 0; at < hosts; at++) {
        given += weight(&parts[at], most, known);
        int64_t until = at + 1 < hosts ? (int64_t)((double)count * given / sum) : count;
        parts[at].count = until - before;
        before = until;
    }
}

GArray *fan_out_plan(const Config *config, Store *store, int64_t count, GError **error)
{
    int64_t over = config_integer(config, "host", "fan_out_over");
    bool large = over > 0 && count > over && config_bool(config, "runner.handover", "start");
    const char *own = config_string(config, "site", "hostname");
    g_autoptr(GArray) parts = g_array_new(FALSE, TRUE, sizeof(FanOutPart));
    g_array_set_clear_func(parts, part_clear);
    g_autoptr(GPtrArray) hosts = large ? host_all(store, error) : NULL;
    if (large && !hosts)
        return NULL;
    for (guint at = 0; hosts && at < hosts->len; at++) {
        const Host *host = hosts->pdata[at];
        g_autoptr(json_t) state = json_loads(host->state, 0, NULL);
        bool here = strcmp(host->name, own) == 0;
        if (!here && (!host->living || host->draining || !meta_string(state, "door", NULL)))
            continue;
        const FanOutPart part = {.host = here ? NULL : g_strdup(host->name),
                                 .pace = json_number_value(json_object_get(state, "pace"))};
        g_array_insert_val(parts, here ? 0 : parts->len, part);
    }
    if (parts->len > 0 && g_array_index(parts, FanOutPart, 0).host) /* this host has no row yet */
        g_array_set_size(parts, 0);
    if (parts->len == 0)
        g_array_set_size(parts, 1);
    fan_out_divide(count, (FanOutPart *)(void *)parts->data, parts->len);
    return g_steal_pointer(&parts);
}
