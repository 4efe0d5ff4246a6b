/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/plain.h"
#include "cli/queues/queue_files.h"
#include "cli/queues/queue_select.h"

static gboolean names;
static char *list_filter, *state_filter;
static int limit = G_MAXINT;

/* The first `most` files in order, of those after `after`: never more than twice as many are kept. */
typedef struct ListedRows {
    GArray *files; /* of QueueFile */
    guint most;
    const QueueFile *after; /* NULL: from the beginning */
    QueueState state;
    bool all;
    bool left_out; /* there are others behind them */
} ListedRows;

static gint compare_files(gconstpointer a, gconstpointer b)
{
    const QueueFile *one = a, *other = b;
    int order = name_compare(&one->name, &other->name);
    return order ? order : (int)one->state - (int)other->state;
}

static void keep_first(ListedRows *gather)
{
    g_array_sort(gather->files, compare_files);
    if (gather->files->len > gather->most) {
        gather->left_out = true;
        g_array_set_size(gather->files, gather->most);
    }
}

static bool gather_file(const QueueFile *found, const char *file, void *data)
{
    ListedRows *gather = data;
    if (found->state == QUEUE_FOREIGN || (!gather->all && found->state != gather->state) ||
        (gather->after && compare_files(found, gather->after) <= 0))
        return true;
    g_array_append_val(gather->files, *found);
    if (gather->files->len / 2 >= gather->most)
        keep_first(gather);
    return true;
}

/* Make the row of an entry that was opened, or (entry NULL) is known only by its name. */
static json_t *make_row(const char *queue, const QueueFile *found, QueueState state, const Entry *entry,
                        const char *fault)
{
    char name[NAME_SIZE];
    name_format(&found->name, name);
    json_t *row = json_pack("{ss ss ss so}", "queue", queue, "name", name, "state", queue_state_text(state), "due",
                            listing_time(found->name.due));
    int64_t now = clock_now();
    json_object_set_new(row, "due_in", json_integer((found->name.due - now) / CLOCK_SECOND));
    if (fault)
        json_object_set_new(row, "fault", listing_text(fault));
    if (!entry)
        return row;
    const char *list = entry_list(entry);
    json_object_set_new(row, "list", *list ? listing_text(list) : json_null());
    json_object_set_new(row, "trace", listing_text(entry_trace(entry)));
    json_object_set_new(row, "arrival", listing_time(entry_arrival(entry)));
    json_object_set_new(row, "age", json_integer((now - entry_arrival(entry)) / CLOCK_SECOND));
    json_object_set_new(row, "size", json_integer((json_int_t)entry_message_length(entry)));
    json_object_set_new(row, "crashes", json_integer(entry_crashes(entry)));
    int64_t todo = 0, done = 0, bounced = 0;
    Recipient recipient;
    for (size_t at = 0; entry_next_recipient(entry, at, &recipient); at = recipient.next) {
        todo += recipient.state == RECIPIENT_TODO;
        done += recipient.state == RECIPIENT_DONE;
        bounced += recipient.state == RECIPIENT_BOUNCED;
    }
    json_object_set_new(row, "todo", json_integer(todo));
    json_object_set_new(row, "done", json_integer(done));
    json_object_set_new(row, "bounced", json_integer(bounced));
    return row;
}

/* Shows one file, if the filters let it; false only when the command must end. */
static bool show_file(Queue *queue, const QueueFile *found, Listing *listing, int *shown, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    QueueState state = found->state;
    g_autoptr(Entry) entry = NULL;
    if (state != QUEUE_WRITING && !(names && !list_filter)) {
        entry = queue_files_open(queue, found, &state, &refusal);
        if (!entry && g_error_matches(refusal, FAIL, FAIL_MISSING))
            return true;
        if (!entry && !g_error_matches(refusal, FAIL, FAIL_NEVER))
            return fail_with(error, &refusal);
    }
    if (list_filter && (!entry || strcmp(entry_list(entry), list_filter) != 0))
        return true;
    ++*shown;
    if (names) {
        char name[NAME_SIZE];
        name_format(&found->name, name);
        puts(name);
    } else
        listing_row(listing, make_row(queue_name(queue), found, state, entry, refusal ? refusal->message : NULL));
    if (refusal)
        plain_complain("listrunner queue ls: %s: %s", queue_name(queue), refusal->message);
    return !ferror(stdout);
}

/* Another walk over the queue, for twice as many, when some of the first were not to be shown. */
static bool show_queue(Queue *queue, const ListedRows *filter, Listing *listing, int *shown, GError **error)
{
    QueueFile last;
    ListedRows gather = *filter;
    gather.left_out = true;
    for (guint most = (guint)(limit - *shown); gather.left_out && *shown != limit; most *= 2) {
        g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(QueueFile));
        gather.files = files;
        gather.most = most;
        gather.left_out = false;
        if (!queue_files_each(queue, gather_file, &gather, error))
            return false;
        keep_first(&gather);
        for (guint i = 0; i < files->len && *shown != limit; i++)
            if (!show_file(queue, &g_array_index(files, QueueFile, i), listing, shown, error))
                return false;
        if (files->len > 0) {
            last = g_array_index(files, QueueFile, files->len - 1);
            gather.after = &last;
        }
    }
    return true;
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"queue", "QUEUE", COLUMN_TEXT}, {"name", "NAME", COLUMN_TEXT},   {"state", "STATE", COLUMN_TEXT},
        {"age", "AGE", COLUMN_SPAN},     {"due", "DUE", COLUMN_TEXT},     {"size", "SIZE", COLUMN_NUMBER},
        {"todo", "TODO", COLUMN_NUMBER}, {"done", "DONE", COLUMN_NUMBER}, {"bounced", "BOUNCED", COLUMN_NUMBER},
        {"list", "LIST", COLUMN_TEXT},   {NULL, NULL, COLUMN_TEXT}};
    ListedRows filter = {.all = state_filter == NULL};
    if (state_filter && !queue_state_parse(state_filter, &filter.state))
        return command_usage(error, "--state: there is no state '%s', only " QUEUE_STATE_CHOICES, state_filter);
    if (limit < 0)
        return command_usage(error, "--limit: %d entries cannot be shown; 0 and more can", limit);
    queue_select_list_id(&list_filter);
    Spool *spool = site_spool(site, error);
    g_auto(GStrv) queues = spool ? queue_files_choose(spool, argc, argv, error) : NULL;
    if (!queues)
        return TOOL_LATER;
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    int shown = 0;
    for (size_t i = 0; queues[i]; i++) {
        Queue *queue = spool_queue(spool, queues[i], error);
        if (!queue || !show_queue(queue, &filter, listing, &shown, error))
            return TOOL_LATER;
    }
    return shown > 0 || queue_select_list_known(site, list_filter, error) ? TOOL_OK : TOOL_MISSING;
}

static const GOptionEntry options[] = {
    {"list", 0, 0, G_OPTION_ARG_STRING, &list_filter, "only entries of this list (its List-Id or address)", "LIST"},
    {"state", 0, 0, G_OPTION_ARG_STRING, &state_filter, "only entries in this state", QUEUE_STATE_CHOICES},
    {"limit", 0, 0, G_OPTION_ARG_INT, &limit, "at most N entries", "N"},
    JSON_ROWS_OPTION,
    {"names", 0, 0, G_OPTION_ARG_NONE, &names, "only the names of the entries", NULL},
    G_OPTION_ENTRY_NULL,
};

const Command queue_ls = {
    .name = "ls",
    .arguments = "[QUEUE...]",
    .summary = "Show the entries, queue by queue, in the order they are due",
    .details = "AGE is the time since the message arrived, SIZE that of the message in octets; TODO, DONE and BOUNCED\n"
               "count recipients.",
    .most = -1,
    .options = options,
    .run = run_ls,
};
