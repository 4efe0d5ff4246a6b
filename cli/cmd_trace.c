/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner trace: what became of a mail, by the lines that the log had about it (base/trail.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/trail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "lists/post_trace.h"
#include "lists/this_host.h"

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

static void count_fates(const GPtrArray *lines, const char *address)
{
    unsigned sent, bounced, deferred;
    g_auto(TraceFates) fates = {0};
    for (guint i = 0; i < lines->len; i++) {
        g_autofree char *status = trace_line_value(lines->pdata[i], "status");
        g_auto(GStrv) recipients = status ? trace_line_recipients(lines->pdata[i]) : NULL;
        for (char **recipient = recipients; recipient && *recipient; recipient++)
            if (!address || g_ascii_strcasecmp(*recipient, address) == 0)
                trace_fates_add(&fates, *recipient, status);
    }
    trace_fates_count(&fates, &sent, &bounced, &deferred);
    if (sent + bounced + deferred > 0)
        printf("recipients: %u sent, %u bounced, %u deferred\n", sent, bounced, deferred);
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
    if (!json_option)
        count_fates(found.lines, address);
    return true;
}

/* The key of what was typed; the store is opened for the name of a list alone. g_free() */
static char *key_of(Site *site, const char *what, GError **error)
{
    g_autofree char *name = NULL, *key = post_trace_key(what, &name);
    if (!name)
        return g_steal_pointer(&key);
    Store *store = site_store(site, false, error);
    return store ? post_trace_find_key(store, what, error) : NULL;
}

static void tell_nothing(const char *directory)
{
    int64_t since;
    g_autoptr(GError) error = NULL;
    json_t *time = trail_since(directory, &since, &error) ? listing_time(since) : json_null();
    if (json_is_string(time))
        fprintf(stderr,
                "listrunner trace: nothing is known of it; the trail goes back to %s, and lines of the last three "
                "seconds may be missing\n",
                json_string_value(time));
    else
        fprintf(stderr, "listrunner trace: nothing is known of it; the trail in %s is empty\n", directory);
    json_decref(time);
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
    g_autoptr(json_t) names = store ? post_trace_not_asked(store, config, &error) : NULL;
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
    g_autofree char *key = config ? key_of(site, argv[0], error) : NULL;
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
    if (!shown)
        tell_nothing(directory);
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
               "did itself; those that were not asked are named. Exits 1 when nothing is known.",
};
