/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/trace.h"

#include <string.h>

#include "base/clock.h"
#include "base/trail/trail.h"
#include "lists/hosts/this_host.h"

bool trace_is(const char *text)
{
    return strlen(text) == TRACE_DIGITS && strspn(text, "0123456789abcdef") == TRACE_DIGITS;
}

char *trace_line_value(const char *line, const char *name)
{
    g_autofree char *before = g_strdup_printf(" %s=", name);
    const char *at = strstr(line, before);
    return at ? g_strndup(at + strlen(before), strcspn(at + strlen(before), " ")) : NULL;
}

/* The part behind the program and the trace. */
static const char *body_of(const char *line)
{
    return strstr(line, ": ") + strlen(": ") + TRACE_DIGITS + 1;
}

/* Is the line about this list? It is when list= stands right behind the trace, where no peer can have written it. */
static bool is_of_list(const char *line, const char *list_id)
{
    const char *body = body_of(line);
    if (!g_str_has_prefix(body, "list="))
        return false;
    body += strlen("list=");
    return strcspn(body, " ") == strlen(list_id) && strncmp(body, list_id, strlen(list_id)) == 0;
}

char **trace_line_recipients(const char *line)
{
    /* bounces say it so */
    g_autofree char *to = trace_line_value(line, strstr(line, " address=<") ? "address" : "to");
    size_t length = to ? strlen(to) : 0;
    if (length < 2 || to[0] != '<' || to[length - 1] != '>')
        return NULL;
    to[length - 1] = '\0';
    return g_strsplit(to + 1, ">,<", -1);
}

bool trace_line_is_about(const char *line, const char *address)
{
    g_auto(GStrv) recipients = address ? trace_line_recipients(line) : NULL;
    if (!recipients)
        return true;
    for (char **recipient = recipients; *recipient; recipient++)
        if (g_ascii_strcasecmp(*recipient, address) == 0)
            return true;
    return false;
}

static char *text_of(const char *line, const char *address)
{
    const char *text = body_of(line);
    if (g_str_has_prefix(text, "list="))
        text += strcspn(text, " ") + (text[strcspn(text, " ")] == ' ');
    const char *to = address ? strstr(text, "to=<") : NULL;
    if (!to || (to > text && to[-1] != ' '))
        return g_strdup(text);
    return g_strdup_printf("%.*sto=<%s>%s", (int)(to - text), text, address, to + strcspn(to, " "));
}

/* Text of a peer may be no UTF-8. NULL becomes null; text is taken. */
static json_t *text_json(char *text)
{
    g_autofree char *owned = text, *valid = text ? g_utf8_make_valid(text, -1) : NULL;
    return valid ? json_string(valid) : json_null();
}

json_t *trace_line_json(const char *line, const char *address)
{
    const char *program = line + TRACE_LINE_STAMP + 1;
    return json_pack("{so so so so so}", "time", text_json(g_strndup(line, TRACE_LINE_STAMP)), "program",
                     text_json(g_strndup(program, strcspn(program, ":"))), "trace",
                     text_json(g_strndup(strstr(line, ": ") + 2, TRACE_DIGITS)), "list",
                     text_json(trace_line_value(line, "list")), "text", text_json(text_of(line, address)));
}

/* The reply, which stands in the brackets behind the status. */
static char *reply_of(const char *fate)
{
    const char *status = strstr(fate, " status="), *open = status ? strstr(status, " (") : NULL;
    if (!open)
        return NULL;
    char *reply = g_strdup(open + 2);
    if (g_str_has_suffix(reply, ")"))
        reply[strlen(reply) - 1] = '\0';
    return reply;
}

/* Return the object of trace_line_json() for one recipient, with `email` besides. If the line is about an attempt to
 * deliver, host, status (sent, deferred, bounced), dsn and reply are that attempt's; else they are null. */
static json_t *row_of_recipient(const char *line, const char *address)
{
    static const char *const words[][2] = {{"host", "relay"}, {"dsn", "dsn"}, {"status", "status"}};
    const char *fate = strstr(line, "> relay="); /* behind the recipients */
    json_t *row = trace_line_json(line, address);
    json_object_set_new(row, "email", text_json(g_strdup(address)));
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        json_object_set_new(row, words[i][0], text_json(fate ? trace_line_value(fate, words[i][1]) : NULL));
    json_object_set_new(row, "reply", text_json(fate ? reply_of(fate) : NULL));
    return row;
}

/* ---- a post ---- */

#define ROOM ((uint64_t)8 << 20) /* bytes of the trail's text that are unpacked for one part */

void trace_clear(PostTrace *trace)
{
    g_clear_pointer(&trace->next, g_free);
}

/* ---- keys ---- */

char *trace_key(const char *what, char **list)
{
    const char *hash = strrchr(what, '#');
    size_t length = strlen(what);
    *list = NULL;
    if (*what == '<' && length > 2 && what[length - 1] == '>')
        return g_strndup(what + 1, length - 2);
    if (!hash || hash == what || !hash[1] || strspn(hash + 1, "0123456789") != strlen(hash + 1))
        return g_strdup(what);
    *list = g_strndup(what, (size_t)(hash - what));
    return g_strdup(hash);
}

char *trace_find_key(Store *store, const char *what, GError **error)
{
    g_autofree char *name = NULL, *key = trace_key(what, &name);
    g_autoptr(List) list = name ? list_find(store, name, error) : NULL;
    return list ? g_strconcat(list->list_id, key, NULL) : name ? NULL : g_steal_pointer(&key);
}

/* ---- places: "37b968e27c1b-12-34567-3-40" ---- */

/* Where reading goes on. */
typedef struct PostTracePlace {
    char trace[TRACE_DIGITS + 1]; /* "": of the first mail */
    guint64 number, offset, line; /* as in TrailReading */
    guint64 recipient;            /* of the line */
} PostTracePlace;

static bool parse_place(const char *text, PostTracePlace *place)
{
    g_auto(GStrv) words = g_strsplit(text, "-", -1);
    if (g_strv_length(words) != 5 || !trace_is(words[0]))
        return false;
    g_strlcpy(place->trace, words[0], sizeof(place->trace));
    return g_ascii_string_to_unsigned(words[1], 10, 0, G_MAXUINT32, &place->number, NULL) &&
           g_ascii_string_to_unsigned(words[2], 10, 0, G_MAXINT64, &place->offset, NULL) &&
           g_ascii_string_to_unsigned(words[3], 10, 0, G_MAXUINT32, &place->line, NULL) &&
           g_ascii_string_to_unsigned(words[4], 10, 0, G_MAXUINT32, &place->recipient, NULL);
}

bool trace_begin(PostTrace *trace, const char *place)
{
    PostTracePlace parsed;
    if (place && !parse_place(place, &parsed))
        return false;
    g_free(trace->next);
    trace->next = g_strdup(place);
    return true;
}

/* ---- reading ---- */

typedef struct Walk {
    PostTrace *trace;
    char since[TRACE_LINE_STAMP + 1]; /* "": nothing is too old */
    GPtrArray *mails;                 /* their traces */
    GPtrArray *rows;                  /* of json_t */
    unsigned recipients, others;      /* among the rows */
    unsigned skip;                    /* recipients of the next line that the part before had */
} Walk;

static void walk_clear(Walk *walk)
{
    g_clear_pointer(&walk->mails, g_ptr_array_unref);
    g_clear_pointer(&walk->rows, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Walk, walk_clear)

/* Is the line about the list, and not about an earlier one of that name? */
static bool is_shown(const Walk *walk, const char *line)
{
    const List *list = walk->trace->list;
    return !list || (strncmp(line, walk->since, TRACE_LINE_STAMP) >= 0 && is_of_list(line, list->list_id));
}

static bool take_mail(const TrailLine *line, void *data)
{
    Walk *walk = data;
    g_autofree char *mail = g_strndup(line->trace, TRACE_DIGITS);
    if (!is_shown(walk, line->text) || g_ptr_array_find_with_equal_func(walk->mails, mail, g_str_equal, NULL))
        return true;
    walk->trace->more_mails = walk->mails->len >= POST_TRACE_MAILS;
    if (!walk->trace->more_mails)
        g_ptr_array_add(walk->mails, g_steal_pointer(&mail));
    return !walk->trace->more_mails;
}

static bool take_row(const TrailLine *line, void *data)
{
    Walk *walk = data;
    const PostTrace *trace = walk->trace;
    if (!is_shown(walk, line->text))
        return true;
    g_auto(GStrv) recipients = trace_line_recipients(line->text);
    if (!recipients) {
        if (walk->others == trace->most)
            return false;
        walk->others++;
        g_ptr_array_add(walk->rows, trace_line_json(line->text, NULL));
    }
    const unsigned count = recipients ? g_strv_length(recipients) : 0;
    for (unsigned i = walk->skip; i < count; i++) {
        if (trace->address && g_ascii_strcasecmp(recipients[i], trace->address) != 0)
            continue;
        walk->skip = i;
        if (walk->recipients == trace->most)
            return false;
        walk->recipients++;
        g_ptr_array_add(walk->rows, row_of_recipient(line->text, recipients[i]));
    }
    walk->skip = 0;
    return true;
}

static int by_time(const void *one, const void *other)
{
    return strcmp(json_string_value(json_object_get(*(json_t *const *)one, "time")),
                  json_string_value(json_object_get(*(json_t *const *)other, "time")));
}

/* Read the mails from the place on, until one does not end in this part. */
static bool read_mails(Walk *walk, const PostTracePlace *place, GError **error)
{
    PostTrace *trace = walk->trace;
    uint64_t room = ROOM;
    bool begun = !*place->trace;
    for (guint i = 0; i < walk->mails->len; i++) {
        const char *mail = walk->mails->pdata[i];
        TrailReading reading = {.directory = trace->directory, .key = mail, .room = room};
        if (!begun && !g_str_equal(mail, place->trace))
            continue;
        if (!begun && *place->trace) {
            reading.number = (unsigned)place->number;
            reading.offset = place->offset;
            reading.line = (unsigned)place->line;
            walk->skip = (unsigned)place->recipient;
        }
        begun = true;
        if (!trail_read(&reading, take_row, walk, error))
            return false;
        trace->damaged += reading.damaged;
        room = reading.room;
        if (!reading.done) {
            trace->next = g_strdup_printf("%s-%u-%" G_GUINT64_FORMAT "-%u-%u", mail, reading.number, reading.offset,
                                          reading.line, walk->skip);
            return true;
        }
    }
    return true;
}

bool trace_read(PostTrace *trace, json_t *rows, GError **error)
{
    PostTracePlace place = {.trace = ""};
    if (trace->next && !parse_place(trace->next, &place))
        g_assert_not_reached(); /* trace_begin() */
    g_clear_pointer(&trace->next, g_free);
    g_auto(Walk) walk = {.trace = trace,
                         .mails = g_ptr_array_new_with_free_func(g_free),
                         .rows = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref)};
    int64_t since = trace->list ? trace->list->created_at : 0;
    g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(since / CLOCK_SECOND);
    g_autofree char *text = trace->list && date ? g_date_time_format(date, "%Y-%m-%dT%H:%M:%S") : NULL;
    if (text)
        g_snprintf(walk.since, sizeof(walk.since), "%s.%03dZ", text, (int)(since % CLOCK_SECOND / 1000));

    /* The mails that have the key, as many as can be read at once. */
    if (trace_is(trace->key)) {
        g_ptr_array_add(walk.mails, g_strdup(trace->key));
    } else {
        TrailReading reading = {.directory = trace->directory, .key = trace->key, .room = ROOM};
        bool read = trail_read(&reading, take_mail, &walk, error);
        trace->more_mails |= read && !reading.done;
        trace->damaged += reading.damaged;
        if (!read)
            return false;
    }
    if (!read_mails(&walk, &place, error))
        return false;
    g_ptr_array_sort(walk.rows, by_time);
    for (guint i = 0; i < walk.rows->len; i++)
        json_array_append(rows, walk.rows->pdata[i]);
    return true;
}

/* ---- other hosts ---- */

json_t *trace_not_asked(Store *store, const Config *config, GError **error)
{
    const char *own = config_string(config, "site", "hostname");
    if (!this_host_is_one_of_many(config))
        return json_array();
    g_autoptr(GPtrArray) all = host_all(store, error);
    json_t *names = all ? json_array() : NULL;
    for (guint at = 0; all && at < all->len; at++) {
        const Host *host = all->pdata[at];
        if (strcmp(host->name, own) != 0)
            json_array_append_new(names, json_string(host->name));
    }
    return names;
}
