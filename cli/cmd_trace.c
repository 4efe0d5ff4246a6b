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

#define STAMP strlen("2026-11-28T06:49:10.341Z")
#define TRACE 12 /* digits */

typedef struct Found {
    const char *key;  /* the lines must have it; NULL: any */
    GPtrArray *lines; /* char * */
    GHashTable *traces;
} Found;

static void found_clear(Found *found)
{
    g_clear_pointer(&found->lines, g_ptr_array_unref);
    g_clear_pointer(&found->traces, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Found, found_clear)

static void keep_line(const TrailLine *line, void *data)
{
    g_ptr_array_add(((Found *)data)->lines, g_strdup(line->text));
}

static void keep_trace(const TrailLine *line, void *data)
{
    g_hash_table_add(((Found *)data)->traces, g_strndup(line->trace, TRACE));
}

/* ---- one line ---- */

/* The value behind NAME= of a line; NULL: there is none. g_free() */
static char *value_of(const char *line, const char *name)
{
    g_autofree char *before = g_strdup_printf(" %s=", name);
    const char *at = strstr(line, before);
    return at ? g_strndup(at + strlen(before), strcspn(at + strlen(before), " ")) : NULL;
}

/* The recipients that a line names, "<anne@example.org>,<bart@example.org>"; NULL: none. g_strfreev() */
static char **recipients_of(const char *line)
{
    g_autofree char *to = value_of(line, strstr(line, " address=<") ? "address" : "to"); /* bounces say it so */
    size_t length = to ? strlen(to) : 0;
    if (length < 2 || to[0] != '<' || to[length - 1] != '>')
        return NULL;
    to[length - 1] = '\0';
    return g_strsplit(to + 1, ">,<", -1);
}

/* Is the line about the address? One that names no recipient is about all. */
static bool is_about(const char *line, const char *address)
{
    g_auto(GStrv) recipients = recipients_of(line);
    if (!recipients || !address)
        return true;
    for (char **recipient = recipients; *recipient; recipient++)
        if (g_ascii_strcasecmp(*recipient, address) == 0)
            return true;
    return false;
}

/* What a line says behind the program, the trace and the list. With an address, of the recipients that alone. */
static char *text_of(const char *line, const char *address)
{
    const char *text = strstr(line, ": ") + strlen(": ") + TRACE + 1;
    if (g_str_has_prefix(text, "list="))
        text += strcspn(text, " ") + (text[strcspn(text, " ")] == ' ');
    g_auto(GStrv) recipients = address ? recipients_of(line) : NULL;
    const char *to = recipients ? strstr(text, "to=<") : NULL;
    if (!to)
        return g_strdup(text);
    return g_strdup_printf("%.*sto=<%s>%s", (int)(to - text), text, address, to + strcspn(to, " "));
}

static json_t *make_row(const char *line, const char *address)
{
    g_autofree char *stamp = g_strndup(line, STAMP), *text = text_of(line, address), *list = value_of(line, "list");
    g_autofree char *program = g_strndup(line + STAMP + 1, strcspn(line + STAMP + 1, ":"));
    g_autofree char *trace = g_strndup(strstr(line, ": ") + 2, TRACE);
    return json_pack("{ss so ss so so}", "time", stamp, "program", listing_text(program), "trace", trace, "list",
                     listing_text(list), "text", listing_text(text));
}

/* ---- the whole ---- */

static int by_time(const void *one, const void *other)
{
    return strncmp(*(char *const *)one, *(char *const *)other, STAMP);
}

/* Recipients by their last status. */
static void count_fates(const GPtrArray *lines, const char *address)
{
    unsigned sent = 0, bounced = 0, deferred = 0;
    g_autoptr(GHashTable) fates = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < lines->len; i++) {
        g_autofree char *status = value_of(lines->pdata[i], "status");
        bool is_fate = status && g_ascii_isalpha(*status); /* a bounce says "status=5.1.1" */
        g_auto(GStrv) recipients = is_fate ? recipients_of(lines->pdata[i]) : NULL;
        for (char **recipient = recipients; recipient && *recipient; recipient++)
            if (!address || g_ascii_strcasecmp(*recipient, address) == 0)
                g_hash_table_replace(fates, g_strdup(*recipient), g_strdup(status));
    }
    GHashTableIter at;
    void *status;
    g_hash_table_iter_init(&at, fates);
    while (g_hash_table_iter_next(&at, NULL, &status))
        ++*(g_str_equal(status, "sent") ? &sent : g_str_equal(status, "bounced") ? &bounced : &deferred);
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
    g_auto(Found) found = {.lines = g_ptr_array_new_with_free_func(g_free)};
    if (!trail_find(directory, trace, keep_line, &found, &damaged, error))
        return false;
    g_ptr_array_sort(found.lines, by_time);
    if (damaged > 0)
        fprintf(stderr, "listrunner trace: %" PRIu64 " blocks of the trail are damaged, and are left out\n", damaged);
    if (found.lines->len == 0)
        return true;
    *shown = true;
    g_autofree char *list = value_of(found.lines->pdata[0], "list");
    if (!json_option)
        printf("%s %s\n", trace, list ? list : "");
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (guint i = 0; i < found.lines->len; i++)
        if (is_about(found.lines->pdata[i], address))
            listing_row(listing, make_row(found.lines->pdata[i], address));
    g_clear_pointer(&listing, listing_free);
    if (!json_option)
        count_fates(found.lines, address);
    return true;
}

static bool is_trace(const char *text)
{
    return strlen(text) == TRACE && strspn(text, "0123456789abcdef") == TRACE;
}

/* The key of "LIST#NUMBER", "<MESSAGE-ID>" or a Message-ID; g_free(). */
static char *key_of(Site *site, const char *what, GError **error)
{
    const char *hash = strrchr(what, '#');
    size_t length = strlen(what);
    if (*what == '<' && length > 2 && what[length - 1] == '>')
        return g_strndup(what + 1, length - 2);
    if (!hash || !hash[1] || strspn(hash + 1, "0123456789") != strlen(hash + 1))
        return g_strdup(what);
    g_autofree char *name = g_strndup(what, (size_t)(hash - what));
    Store *store = site_store(site, false, error);
    g_autoptr(List) list = store ? list_find(store, name, error) : NULL;
    return list ? g_strconcat(list->list_id, hash, NULL) : NULL;
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

static int run_trace(Site *site, int argc, char **argv, GError **error)
{
    const Config *config = site_config(site, error);
    g_autofree char *key = config ? key_of(site, argv[0], error) : NULL;
    if (!key || !site_become_user(site, error))
        return TOOL_LATER;
    const char *directory = config_string(config, "trail", "directory"), *address = argc > 1 ? argv[1] : NULL;
    g_auto(Found) found = {.traces = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    if (is_trace(key))
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
               "[trail] keeps it; lines of the last three seconds may be missing. Exits 1 when nothing is known.",
};
