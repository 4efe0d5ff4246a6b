/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/queues/queue_files.h"

static gboolean names;

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

static json_t *row(const char *name, const Count *count)
{
    int64_t now = clock_now();
    json_t *object = json_object();
    json_object_set_new(object, "queue", listing_text(name));
    for (QueueState state = 0; state < QUEUE_STATES; state++)
        json_object_set_new(object, queue_state_text(state), json_integer(count->files[state]));
    json_object_set_new(object, "octets", json_integer(count->octets));
    json_object_set_new(object, "oldest", listing_time(count->oldest));
    json_object_set_new(object, "oldest_age", span(count->oldest, now));
    json_object_set_new(object, "next_due", listing_time(count->next));
    json_object_set_new(object, "next_due_in", span(now, count->next));
    return object;
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
        listing_row(listing, row(queues[i], &count));
    }
    return TOOL_OK;
}

static const GOptionEntry options[] = {
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the names of the queues", NULL},
    G_OPTION_ENTRY_NULL,
};

const Command queue_stat = {
    .name = "stat",
    .arguments = "[QUEUE...]",
    .summary = "Count each queue's entries by state",
    .details = "OLDEST is how long the first entry that is ready or claimed has been due, NEXT IN how long it is\n"
               "until the first waiting one is. Entries are counted by their names, none is opened.",
    .most = -1,
    .options = options,
    .run = run_stat,
};
