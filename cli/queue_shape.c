/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/queue_files.h"
#include "cli/queue_select.h"
#include "cli/shape.h"
#include "lists/keys.h"
#include "mail/copy.h"

static gboolean by_sender, linear;
static int buckets = 10, tick = 5, top = G_MAXINT;

typedef struct ShapeWalk {
    Queue *queue;
    Shape *shape;
    int64_t now;
    GError **error;
    bool sound;
} ShapeWalk;

static const char *domain_of(const char *address, size_t length)
{
    for (size_t i = length; i > 0; i--)
        if (address[i - 1] == '@')
            return address + i;
    return NULL;
}

static void add(ShapeWalk *walk, const char *address, size_t length, int64_t age)
{
    const char *domain = domain_of(address, length);
    g_autofree char *name = length == 0 ? g_strdup("MAILER-DAEMON")
                            : domain    ? g_ascii_strdown(domain, (gssize)(length - (size_t)(domain - address)))
                                        : g_strdup("(no domain)");
    shape_add(walk->shape, name, age);
}

static void add_entry(ShapeWalk *walk, Entry *entry)
{
    int64_t age = (walk->now - entry_arrival(entry)) / CLOCK_SECOND;
    const char *sender = queue_select_sender_of(entry);
    if (by_sender) {
        add(walk, sender, strlen(sender), age);
        return;
    }
    Recipient recipient;
    for (size_t at = 0; entry_next_recipient(entry, at, &recipient); at = recipient.next)
        if (recipient.state == RECIPIENT_TODO)
            add(walk, recipient.address, copy_recipient_read(recipient.address, recipient.length).address_length, age);
}

static bool visit(const QueueFile *found, const char *file, void *data)
{
    (void)file;
    ShapeWalk *walk = data;
    QueueState state;
    if (found->state != QUEUE_READY && found->state != QUEUE_WAITING && found->state != QUEUE_CLAIMED)
        return true;
    g_autoptr(GError) refusal = NULL;
    g_autoptr(Entry) entry = queue_files_open(walk->queue, found, &state, &refusal);
    if (entry)
        add_entry(walk, entry);
    else if (g_error_matches(refusal, FAIL, FAIL_NEVER))
        plain_complain("listrunner queue shape: %s: %s", queue_name(walk->queue), refusal->message);
    else if (!g_error_matches(refusal, FAIL, FAIL_MISSING)) {
        g_propagate_error(walk->error, g_steal_pointer(&refusal));
        walk->sound = false;
    }
    return walk->sound;
}

/* out, notice and retry, those of them that are there. */
static char **default_queues(Spool *spool, GError **error)
{
    g_auto(GStrv) all = spool_queue_names(spool, error);
    if (!all)
        return NULL;
    g_autoptr(GPtrArray) chosen = g_ptr_array_new();
    for (char **name = all; *name; name++)
        if (strcmp(*name, "out") == 0 || strcmp(*name, "retry") == 0 || strcmp(*name, NOTICE_QUEUE) == 0)
            g_ptr_array_add(chosen, g_strdup(*name));
    g_ptr_array_add(chosen, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&chosen), FALSE);
}

static int run_shape(Site *site, int argc, char **argv, GError **error)
{
    if (buckets < 2 || buckets > SHAPE_BUCKETS_MAX)
        return command_usage(error, "--buckets: 2 to %d are possible", SHAPE_BUCKETS_MAX);
    if (tick < 1 || tick > 1440)
        return command_usage(error, "--tick: 1 to 1440 minutes are possible");
    if (top < 0)
        return command_usage(error, "--top: %d domains cannot be shown; 0 and more can", top);
    Spool *spool = site_spool(site, error);
    g_auto(GStrv) queues = !spool      ? NULL
                           : argc == 0 ? default_queues(spool, error)
                                       : queue_files_choose(spool, argc, argv, error);
    if (!queues)
        return TOOL_LATER;
    g_autoptr(Shape) shape = shape_new((unsigned)buckets, tick, linear);
    ShapeWalk walk = {.shape = shape, .now = clock_now(), .error = error, .sound = true};
    for (char **name = queues; *name; name++) {
        walk.queue = spool_queue(spool, *name, error);
        if (!walk.queue || !queue_files_each(walk.queue, visit, &walk, error) || !walk.sound)
            return TOOL_LATER;
    }
    shape_print(shape, top, json_option);
    return TOOL_OK;
}

static const GOptionEntry options[] = {
    {"sender", 's', 0, G_OPTION_ARG_NONE, &by_sender, "count entries by the domain of the envelope sender", NULL},
    {"buckets", 'b', 0, G_OPTION_ARG_INT, &buckets, "number of columns (default: 10)", "N"},
    {"tick", 't', 0, G_OPTION_ARG_INT, &tick, "minutes of the first column (default: 5)", "MINUTES"},
    {"linear", 'l', 0, G_OPTION_ARG_NONE, &linear, "columns of equal width, instead of doubling", NULL},
    {"top", 'n', 0, G_OPTION_ARG_INT, &top, "only the N largest domains", "N"},
    JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

const Command queue_shape = {
    .name = "shape",
    .arguments = "[QUEUE...]",
    .summary = "Show how old what waits is, by destination",
    .details = "Recipients that are still to do are counted, by domain and by minutes since the message arrived; a\n"
               "column's title is its upper bound. Without QUEUE: out, notice and retry.",
    .most = -1,
    .options = options,
    .run = run_shape,
};
