/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner trace: what became of a mail, by the lines that the log had about it (base/trail/trail.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/trail/trail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/queues/queue_files.h"
#include "lists/hosts/this_host.h"
#include "lists/posts/trace.h"
#include "store/posts/scheduled.h"
#include "switchboard/meta.h"

#define WAITING_MOST 100000U /* entries that are opened, some seconds' worth */

typedef struct TraceFound {
    const char *key;  /* the lines must have it; NULL: any */
    GPtrArray *lines; /* char * */
    GHashTable *traces;
} TraceFound;

static void found_clear(TraceFound *found)
{
    g_clear_pointer(&found->lines, g_ptr_array_unref);
    g_clear_pointer(&found->traces, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TraceFound, found_clear)

static void keep_line(const TrailLine *line, void *data)
{
    g_ptr_array_add(((TraceFound *)data)->lines, g_strdup(line->text));
}

static void keep_trace(const TrailLine *line, void *data)
{
    g_hash_table_add(((TraceFound *)data)->traces, g_strndup(line->trace, TRACE_DIGITS));
}

static int by_time(const void *one, const void *other)
{
    return strncmp(*(char *const *)one, *(char *const *)other, TRACE_LINE_STAMP);
}

/* Show the lines of one trace. *shown: there were some. */
static bool show_trace(const char *directory, const char *trace, const char *address, bool *shown, GError **error)
{
    static const Column columns[] = {{"time", "TIME", COLUMN_TEXT}, {"program", "BY", COLUMN_TEXT},
                                     {"text", "WHAT", COLUMN_TEXT}, {"trace", NULL, COLUMN_TEXT},
                                     {"list", NULL, COLUMN_TEXT},   {NULL, NULL, COLUMN_TEXT}};
    uint64_t damaged = 0;
    g_auto(TraceFound) found = {.lines = g_ptr_array_new_with_free_func(g_free)};
    if (!trail_find(directory, trace, keep_line, &found, &damaged, error))
        return false;
    g_ptr_array_sort(found.lines, by_time);
    if (damaged > 0)
        fprintf(stderr, "listrunner trace: %" PRIu64 " blocks of the trail are damaged, and are left out\n", damaged);
    if (found.lines->len == 0)
        return true;
    *shown = true;
    g_autofree char *list = trace_line_value(found.lines->pdata[0], "list");
    if (!json_option)
        printf("%s %s\n", trace, list ? list : "");
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (guint i = 0; i < found.lines->len; i++)
        if (trace_line_is_about(found.lines->pdata[i], address))
            listing_row(listing, trace_line_json(found.lines->pdata[i], address));
    g_clear_pointer(&listing, listing_free);
    /* The last status of each recipient counts; a bounce says "status=5.1.1", which is none. */
    unsigned sent = 0, bounced = 0, deferred = 0;
    g_autoptr(GHashTable) fates = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < found.lines->len; i++) {
        g_autofree char *status = trace_line_value(found.lines->pdata[i], "status");
        g_auto(GStrv) recipients = status ? trace_line_recipients(found.lines->pdata[i]) : NULL;
        for (char **recipient = recipients; recipient && *recipient; recipient++)
            if (g_ascii_isalpha(*status) && (!address || g_ascii_strcasecmp(*recipient, address) == 0))
                g_hash_table_replace(fates, g_ascii_strdown(*recipient, -1), g_strdup(status));
    }
    GHashTableIter at;
    void *status;
    g_hash_table_iter_init(&at, fates);
    while (g_hash_table_iter_next(&at, NULL, &status))
        ++*(g_str_equal(status, "sent") ? &sent : g_str_equal(status, "bounced") ? &bounced : &deferred);
    if (!json_option && sent + bounced + deferred > 0)
        printf("recipients: %u sent, %u bounced, %u deferred\n", sent, bounced, deferred);
    return true;
}

/* ---- where it waits ---- */

/* The search for entries and posts that wait, of the mail that is asked for. */
typedef struct TraceWait {
    Queue *queue;
    const char *key;
    GHashTable *traces;
    json_t *rows;
    unsigned looked_at;
    bool all; /* no entry was left out */
} TraceWait;

/* Add a row (taken) for something that waits: where, since when, and until when. */
static void add_wait(const TraceWait *wait, json_t *row, const char *place, int64_t since, int64_t due)
{
    json_object_set_new(row, "time", listing_time(clock_now()));
    json_object_set_new(row, "program", json_string("listrunner"));
    json_object_set_new(row, "waits_in", json_string(place));
    json_object_set_new(row, "since", listing_time(since));
    json_object_set_new(row, "due", listing_time(due));
    json_array_append_new(wait->rows, row);
}

static bool wait_in(const QueueFile *found, const char *file, void *data)
{
    (void)file;
    TraceWait *wait = data;
    QueueState state = found->state;
    char name[NAME_SIZE];
    if (state == QUEUE_FOREIGN || state == QUEUE_WRITING || state == QUEUE_DECIDED)
        return true;
    if (wait->looked_at++ >= WAITING_MOST) {
        wait->all = false;
        return false;
    }
    g_autoptr(Entry) entry = queue_files_open(wait->queue, found, &state, NULL);
    if (!entry || !g_hash_table_contains(wait->traces, entry_trace(entry)))
        return true;
    name_format(&found->name, name);
    const char *queue = queue_name(wait->queue);
    bool later = state == QUEUE_WAITING;
    g_autofree char *since = clock_text(entry_arrival(entry)), *due = clock_text(found->name.due);
    g_autofree char *text = g_strdup_printf("%s waits in the queue %s (%s) since %s%s%s: listrunner queue cat %s",
                                            entry_trace(entry), queue, queue_state_text(state), since,
                                            later ? ", until " : "", later ? due : "", name);
    add_wait(wait, json_pack("{ss ss ss}", "text", text, "trace", entry_trace(entry), "list", entry_list(entry)), queue,
             entry_arrival(entry), found->name.due);
    return true;
}

static bool wait_for_time(const Scheduled *post, void *data)
{
    const TraceWait *wait = data;
    g_autoptr(json_t) meta = post->meta ? meta_parse(post->meta, strlen(post->meta), NULL) : NULL;
    const char *trace = meta_string(meta, META_TRACE, "-");
    if (!g_hash_table_contains(wait->traces, trace) && g_strcmp0(post->message_id, wait->key) != 0)
        return true;
    g_autofree char *due = clock_text(post->due_at);
    g_autofree char *text = g_strdup_printf("%s waits to be sent at %s, as number %" PRId64
                                            " of: listrunner scheduled ls %s",
                                            trace, due, post->number, post->list_id);
    add_wait(wait, json_pack("{ss ss ss}", "text", text, "trace", trace, "list", post->list_id), "scheduled",
             post->made_at, post->due_at);
    return true;
}

/* Show which entries of this host wait, and which accepted posts wait for their time. What cannot be looked at is told,
 * and hinders nothing. */
static void show_waiting(Site *site, const char *key, GHashTable *traces, bool *shown)
{
    size_t at;
    const json_t *row;
    g_autoptr(GError) error = NULL, absent = NULL;
    g_autoptr(json_t) rows = json_array();
    TraceWait wait = {.key = key, .traces = traces, .rows = rows, .all = true};
    Spool *spool = site_spool(site, &error);
    g_auto(GStrv) queues = spool ? queue_files_choose(spool, 0, NULL, &error) : NULL;
    for (char **name = queues; name && *name && !error && g_hash_table_size(traces) > 0; name++) {
        wait.queue = spool_queue(spool, *name, &error);
        if (wait.queue)
            queue_files_each(wait.queue, wait_in, &wait, &error);
    }
    if (error)
        fprintf(stderr, "listrunner trace: whether it waits in a queue is not known: %s\n", error->message);
    else if (!wait.all)
        fprintf(stderr,
                "listrunner trace: of the entries in the queues %u were looked at; "
                "\"listrunner queue ls --trace\" looks at all\n",
                WAITING_MOST);
    Store *store = site_store(site, false, &absent);
    if (!store || !scheduled_each(store, NULL, wait_for_time, &wait, &absent))
        fprintf(stderr, "listrunner trace: whether it waits to be sent at a time is not known: %s\n", absent->message);
    json_array_foreach(rows, at, row) {
        *shown = true;
        if (json_option)
            json_dumpf(row, stdout, JSON_COMPACT);
        else
            printf("%s\n", json_string_value(json_object_get(row, "text")));
        if (json_option)
            putchar('\n');
    }
}

/* Say which hosts may know more. What this host knows is shown all the same where the store does not answer. */
static void tell_not_asked(Site *site, const Config *config)
{
    size_t at;
    const json_t *name;
    g_autoptr(GError) error = NULL;
    if (!this_host_is_one_of_many(config))
        return;
    Store *store = site_store(site, false, &error);
    g_autoptr(json_t) names = store ? trace_not_asked(store, config, &error) : NULL;
    if (!names)
        fprintf(stderr, "listrunner trace: which other hosts may know more of it cannot be found out: %s\n",
                error->message);
    json_array_foreach(names, at, name)
        fprintf(
            stderr,
            "listrunner trace: %s was not asked; it keeps a trail of what it did itself, so ask on that host, too\n",
            json_string_value(name));
}

static int run_trace(Site *site, int argc, char **argv, GError **error)
{
    const Config *config = site_config(site, error);
    g_autofree char *name = NULL, *key = config ? trace_key(argv[0], &name) : NULL;
    if (name) { /* only for the name of a list the store is opened */
        Store *store = site_store(site, false, error);
        g_free(key);
        key = store ? trace_find_key(store, argv[0], error) : NULL;
    }
    if (!key || !site_become_user(site, error))
        return TOOL_LATER;
    const char *directory = config_string(config, "trail", "directory"), *address = argc > 1 ? argv[1] : NULL;
    g_auto(TraceFound) found = {.traces = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    if (trace_is(key))
        g_hash_table_add(found.traces, g_strdup(key));
    else if (!trail_find(directory, key, keep_trace, &found, NULL, error))
        return TOOL_LATER;
    bool shown = false;
    GHashTableIter at;
    void *trace;
    g_hash_table_iter_init(&at, found.traces);
    while (g_hash_table_iter_next(&at, &trace, NULL))
        if (!show_trace(directory, trace, address, &shown, error))
            return TOOL_LATER;
    show_waiting(site, key, found.traces, &shown);
    int64_t since = 0;
    g_autoptr(json_t) time = !shown && trail_since(directory, &since, NULL) ? listing_time(since) : json_null();
    if (json_is_string(time))
        fprintf(stderr,
                "listrunner trace: nothing is known of it; the trail goes back to %s, and lines of the last three "
                "seconds may be missing\n",
                json_string_value(time));
    else if (!shown)
        fprintf(stderr, "listrunner trace: nothing is known of it; the trail in %s is empty\n", directory);
    tell_not_asked(site, config);
    return shown ? TOOL_OK : TOOL_NOT_SO;
}

static const GOptionEntry options[] = {JSON_ROWS_OPTION, G_OPTION_ENTRY_NULL};

const Command cmd_trace = {
    .name = "trace",
    .arguments = "MESSAGE-ID|LIST#NUMBER|TRACE [ADDRESS]",
    .summary = "Show what became of a mail, for each recipient or for one",
    .least = 1,
    .most = 2,
    .options = options,
    .run = run_trace,
    .details = "NUMBER is the post's number on LIST. What is told is what the log had of it, as far back as section "
               "[trail] keeps it; lines of the last three seconds may be missing. Of several hosts each knows what it "
               "did itself; those that were not asked are named. Where an entry of it still waits in a queue of this "
               "host, or the post waits for the time at which it is to be sent, that is said, too. Exits 1 when "
               "nothing is known.",
};
