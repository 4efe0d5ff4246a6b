/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queues/queue_leave.h"

#include <string.h>

#include "base/clock.h"
#include "cli/queues/destinations.h"
#include "cli/queues/queue_files.h"

#define PATIENCE (4 * CLOCK_SECOND)
#define PAUSE 20000
/* Hashes in one request. */
#define TOGETHER 500

static bool held_by_out(const QueueTarget *target)
{
    static const char *const queues[] = {"out", "retry", "notice", NULL};
    return target->file.state == QUEUE_CLAIMED && g_strv_contains(queues, queue_name(target->queue));
}

static void ask(Site *site, json_t *entries)
{
    if (json_array_size(entries) == 0) {
        json_decref(entries);
        return;
    }
    g_autoptr(GError) refused = NULL; /* none runs: then nobody holds them for long */
    json_t *request = json_pack("{s:s,s:o}", "verb", "leave", "entries", entries);
    json_decref(destinations_ask(site, request, &refused));
}

static bool still_held(const QueueTarget *target)
{
    QueueState state = QUEUE_CLAIMED;
    g_autoptr(Entry) entry = queue_files_open(target->queue, &target->file, &state, NULL);
    return entry && state == QUEUE_CLAIMED;
}

bool queue_leave(Site *site, const GArray *targets)
{
    g_autoptr(GPtrArray) held = g_ptr_array_new();
    json_t *entries = json_array();
    for (guint i = 0; i < targets->len; i++) {
        QueueTarget *target = &g_array_index(targets, QueueTarget, i);
        char hash[HASH_DIGITS + 1];
        if (!held_by_out(target))
            continue;
        name_hash_format(target->file.name.hash, hash);
        json_array_append_new(entries, json_string(hash));
        g_ptr_array_add(held, target);
        if (json_array_size(entries) == TOGETHER) {
            ask(site, entries);
            entries = json_array();
        }
    }
    ask(site, entries);
    int64_t until = clock_monotonic() + PATIENCE;
    for (guint i = 0; i < held->len; i++)
        while (still_held(held->pdata[i]) && clock_monotonic() < until)
            g_usleep(PAUSE);
    return held->len > 0;
}
