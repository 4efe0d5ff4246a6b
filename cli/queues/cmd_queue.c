/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner queue: stat, shape; the other verbs have files of their own. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/queues/queue_files.h"
#include "lists/site/queue_shape.h"

static gboolean names;
static gboolean by_sender, by_list, linear;
static int buckets = 10, tick = 5, top = G_MAXINT;

/* ---- stat ---- */

typedef struct Count {
    int fd;
    int64_t files[QUEUE_STATES];
    int64_t octets;
    int64_t oldest; /* due time of the first that is due and not ended; 0: none */
    int64_t next;   /* due time of the first that waits; 0: none */
} Count;

static bool count_file(const QueueFile *found, const char *file, void *data)
{
    Count *count = data;
    struct stat status;
    int64_t due = found->name.due;
    count->files[found->state]++;
    if (fstatat(count->fd, file, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
        count->octets += status.st_size;
    if ((found->state == QUEUE_READY || found->state == QUEUE_CLAIMED) && (!count->oldest || due < count->oldest))
        count->oldest = due;
    if (found->state == QUEUE_WAITING && (!count->next || due < count->next))
        count->next = due;
    return true;
}

/* Seconds between two times, null when there is no second one. */
static json_t *span(int64_t from, int64_t to)
{
    return from && to ? json_integer((to - from) / CLOCK_SECOND) : json_null();
}

static int run_stat(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"queue", "QUEUE", COLUMN_TEXT},          {"ready", "READY", COLUMN_NUMBER},
        {"waiting", "WAITING", COLUMN_NUMBER},    {"claimed", "CLAIMED", COLUMN_NUMBER},
        {"decided", "DECIDED", COLUMN_NUMBER},    {"preserved", "PRESERVED", COLUMN_NUMBER},
        {"writing", "WRITING", COLUMN_NUMBER},    {"taken", "TAKEN", COLUMN_NUMBER},
        {"foreign", "FOREIGN", COLUMN_NUMBER},
        {"octets", "OCTETS", COLUMN_NUMBER},      {"oldest_age", "OLDEST", COLUMN_SPAN},
        {"next_due_in", "NEXT IN", COLUMN_SPAN},  {NULL, NULL, COLUMN_TEXT}};
    Spool *spool = site_spool(site, error);
    g_auto(GStrv) queues = spool ? queue_files_choose(spool, argc, argv, error) : NULL;
    if (!queues)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (size_t i = 0; queues[i]; i++) {
        if (names) {
            puts(queues[i]);
            continue;
        }
        Queue *queue = spool_queue(spool, queues[i], error);
        if (!queue)
            return TOOL_LATER;
        Count count = {.fd = queue_fd(queue)};
        if (!queue_files_each(queue, count_file, &count, error))
            return TOOL_LATER;
        int64_t now = clock_now();
        json_t *row = json_pack("{so}", "queue", listing_text(queues[i]));
        for (QueueState state = 0; state < QUEUE_STATES; state++)
            json_object_set_new(row, queue_state_text(state), json_integer(count.files[state]));
        json_object_set_new(row, "octets", json_integer(count.octets));
        json_object_set_new(row, "oldest", listing_time(count.oldest));
        json_object_set_new(row, "oldest_age", span(count.oldest, now));
        json_object_set_new(row, "next_due", listing_time(count.next));
        json_object_set_new(row, "next_due_in", span(now, count.next));
        listing_row(listing, row);
    }
    return TOOL_OK;
}

static const GOptionEntry stat_options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the names of the queues", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command queue_stat = {
    .name = "stat",
    .arguments = "[QUEUE...]",
    .summary = "Count each queue's entries by state",
    .details = "OLDEST is how long the first entry that is ready or claimed has been due, NEXT IN how long it is\n"
               "until the first waiting one is. Entries are counted by their names, none is opened.",
    .most = -1,
    .options = stat_options,
    .run = run_stat,
};

/* ---- shape ---- */

static void print_row(Listing *listing, const GPtrArray *titles, const char *name, const json_t *row)
{
    size_t at;
    json_t *number, *object = json_object();
    json_object_set_new(object, by_list ? "list" : "domain", listing_text(name));
    if (by_list)
        json_object_set(object, "queue", json_object_get(row, "queue"));
    json_object_set(object, "total", json_object_get(row, "total"));
    json_array_foreach(json_object_get(row, "counts"), at, number)
        json_object_set(object, titles->pdata[at], number);
    listing_row(listing, object);
}

static void print_shape(const json_t *shape)
{
    Column columns[QUEUE_SHAPE_BUCKETS_MAX + 4] = {{by_list ? "list" : "domain", "", COLUMN_TEXT}};
    size_t at, used = 1;
    const json_t *row, *minutes;
    json_int_t last = 0;
    g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func(g_free);
    json_array_foreach(json_object_get(shape, "minutes"), at, minutes) {
        last = json_integer_value(minutes);
        g_ptr_array_add(titles, g_strdup_printf("%" JSON_INTEGER_FORMAT, last));
    }
    g_ptr_array_add(titles, g_strdup_printf("%" JSON_INTEGER_FORMAT "+", last));
    if (by_list)
        columns[used++] = (Column){"queue", "QUEUE", COLUMN_TEXT};
    columns[used++] = (Column){"total", "T", COLUMN_NUMBER};
    for (guint i = 0; i < titles->len; i++)
        columns[used++] = (Column){titles->pdata[i], titles->pdata[i], COLUMN_NUMBER};
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    print_row(listing, titles, "TOTAL", json_object_get(shape, "total"));
    json_array_foreach(json_object_get(shape, "rows"), at, row)
        print_row(listing, titles, json_string_value(json_object_get(row, "name")), row);
    g_clear_pointer(&listing, listing_free); /* before the titles go */
}

static int run_shape(Site *site, int argc, char **argv, GError **error)
{
    if (buckets < 2 || buckets > QUEUE_SHAPE_BUCKETS_MAX)
        return command_usage(error, "--buckets: 2 to %d are possible", QUEUE_SHAPE_BUCKETS_MAX);
    if (tick < 1 || tick > 1440)
        return command_usage(error, "--tick: 1 to 1440 minutes are possible");
    if (top < 0)
        return command_usage(error, "--top: %d domains cannot be shown; 0 and more can", top);
    if (by_sender && by_list)
        return command_usage(error, "--sender and --list exclude each other");
    Spool *spool = site_spool(site, error);
    g_auto(GStrv) queues = !spool      ? NULL
                           : argc == 0 ? queue_shape_queues(spool, !by_list, error)
                                       : queue_files_choose(spool, argc, argv, error);
    if (!queues)
        return TOOL_LATER;
    const QueueShapeSpec spec = {.by = by_sender ? QUEUE_SHAPE_BY_SENDER
                                       : by_list ? QUEUE_SHAPE_BY_LIST
                                                 : QUEUE_SHAPE_BY_DOMAIN,
                                 .buckets = (unsigned)buckets,
                                 .tick = tick,
                                 .linear = linear,
                                 .top = top};
    g_autoptr(json_t) shape = queue_shape_of(spool, queues, &spec, error);
    if (!shape)
        return TOOL_LATER;
    size_t at;
    const json_t *fault;
    json_array_foreach(json_object_get(shape, "faults"), at, fault)
        plain_complain("listrunner queue shape: %s", json_string_value(fault));
    print_shape(shape);
    return TOOL_OK;
}

static const GOptionEntry shape_options[] = {
    {"sender", 's', 0, G_OPTION_ARG_NONE, &by_sender, "count entries by the domain of the envelope sender", NULL},
    {"list", 'L', 0, G_OPTION_ARG_NONE, &by_list, "count entries by their queue and list", NULL},
    {"buckets", 'b', 0, G_OPTION_ARG_INT, &buckets, "number of columns (default: 10)", "N"},
    {"tick", 't', 0, G_OPTION_ARG_INT, &tick, "minutes of the first column (default: 5)", "MINUTES"},
    {"linear", 'l', 0, G_OPTION_ARG_NONE, &linear, "columns of equal width, instead of doubling", NULL},
    {"top", 'n', 0, G_OPTION_ARG_INT, &top, "only the N largest rows", "N"},
    JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

static const Command queue_shape = {
    .name = "shape",
    .arguments = "[QUEUE...]",
    .summary = "Show how old what waits is, by destination",
    .details = "Recipients that are still to do are counted, by domain and by minutes since the message arrived; a\n"
               "column's title is its upper bound. Without QUEUE: out, notice and retry, and with --list all others.",
    .most = -1,
    .options = shape_options,
    .run = run_shape,
};

static const Command *const verbs[] = {
    &queue_ls,      &queue_cat,    &queue_stat,   &queue_shape,  &queue_hold,
    &queue_release, &queue_requeue, &queue_delete, &queue_expire, &queue_edit_due, NULL,
};

const Command cmd_queue = {
    .name = "queue",
    .arguments = "",
    .summary = "Look at the queues and the entries in them, and change them",
    .verbs = verbs,
};
