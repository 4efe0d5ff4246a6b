/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/backup/sent_since.h"

#include <string.h>

#include "base/trail/trail.h"
#include "lists/keys.h"
#include "lists/posts/trace_line.h"

typedef struct Reading {
    SentSince *sent;
    int64_t moment;
} Reading;

/* 0: it cannot be read. */
static int64_t time_of(const char *line)
{
    g_autofree char *stamp = g_strndup(line, TRACE_LINE_STAMP);
    g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(stamp, NULL);
    return time ? g_date_time_to_unix(time) * G_USEC_PER_SEC + g_date_time_get_microsecond(time) : 0;
}

static void note(GHashTable *mails, const char *trace, const char *line)
{
    GHashTable *addresses = g_hash_table_lookup(mails, trace);
    g_auto(GStrv) recipients = trace_line_recipients(line);
    if (!addresses) {
        addresses = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_hash_table_insert(mails, g_strdup(trace), addresses);
    }
    for (char **recipient = recipients; recipient && *recipient; recipient++)
        g_hash_table_add(addresses, g_ascii_strdown(*recipient, -1));
}

/* A line about the queue retry does not say which of both it is. */
static void note_attempt(SentSince *sent, const TrailLine *line)
{
    g_autofree char *queue = trace_line_value(line->text, "queue"), *trace = g_strndup(line->trace, TRACE_DIGITS);
    if (g_strcmp0(queue, NOTICE_QUEUE) != 0)
        note(sent->posts, trace, line->text);
    if (g_strcmp0(queue, "out") != 0)
        note(sent->letters, trace, line->text);
}

/* A server's reply is in the trail before the spool has what follows from it. So attempts from shortly before the
 * moment count, too: what is still to do for the same mail and address was done then. */
#define BEFORE (10 * INT64_C(60) * G_USEC_PER_SEC)

static void note_taken(SentSince *sent, const char *line)
{
    char *list = trace_line_value(line, "list");
    guint count = list ? GPOINTER_TO_UINT(g_hash_table_lookup(sent->taken, list)) : 0;
    if (list)
        g_hash_table_insert(sent->taken, list, GUINT_TO_POINTER(count + 1));
}

static void look(const TrailLine *line, void *data)
{
    Reading *reading = data;
    int64_t time = time_of(line->text);
    if (time < reading->moment - BEFORE)
        return;
    if (time > reading->moment)
        reading->sent->last = MAX(reading->sent->last, time);
    const char *program = line->text + TRACE_LINE_STAMP + 1;
    const char *fate = strstr(line->text, "> relay=");
    const char *status = fate ? strstr(fate, " status=") : NULL;
    if (g_str_has_prefix(program, "out[") && status &&
        (g_str_has_prefix(status, " status=sent") || g_str_has_prefix(status, " status=bounced")))
        note_attempt(reading->sent, line);
    if (time <= reading->moment || !g_str_has_prefix(program, "in["))
        return;
    bool held = strstr(line->text, " result=hold") != NULL;
    if (held)
        g_ptr_array_add(reading->sent->held, g_strdup(line->text));
    if (held || strstr(line->text, " result=accept"))
        note_taken(reading->sent, line->text);
}

bool sent_since_read(SentSince *sent, const char *directory, int64_t moment, GError **error)
{
    GDestroyNotify unref = (GDestroyNotify)g_hash_table_unref;
    *sent = (SentSince){.posts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, unref),
                        .letters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, unref),
                        .taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                        .held = g_ptr_array_new_with_free_func(g_free)};
    Reading reading = {.sent = sent, .moment = moment};
    return trail_find(directory, NULL, look, &reading, NULL, error);
}

void sent_since_clear(SentSince *sent)
{
    g_clear_pointer(&sent->posts, g_hash_table_unref);
    g_clear_pointer(&sent->letters, g_hash_table_unref);
    g_clear_pointer(&sent->taken, g_hash_table_unref);
    g_clear_pointer(&sent->held, g_ptr_array_unref);
}

bool sent_since_has(const SentSince *sent, const char *trace, bool letter, const char *address, size_t length)
{
    GHashTable *addresses = g_hash_table_lookup(letter ? sent->letters : sent->posts, trace);
    g_autofree char *key = addresses ? g_ascii_strdown(address, (gssize)length) : NULL;
    return key && g_hash_table_contains(addresses, key);
}

unsigned sent_since_count(const SentSince *sent, const char *trace)
{
    GHashTable *addresses = g_hash_table_lookup(sent->posts, trace);
    return addresses ? g_hash_table_size(addresses) : 0;
}
