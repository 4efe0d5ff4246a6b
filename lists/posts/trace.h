/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read what became of a post, from the trail (base/trail/trail.h), which keeps lines of the log by mail. A line looks
 * like this:
 *
 *   2026-11-28T06:49:10.341Z out[0]: 37b968e27c1b list=cats.lists.example.com queue=out to=<anne@example.org>,<bart@
 *   example.org> relay=mx.example.org[192.0.2.7]:25 delay=0.3 delays=0.1/0/0.1/0.1 dsn=2.0.0 status=sent (250 2.0.0 Ok)
 *
 * The program itself wrote the line up to the list. Peers and authors wrote parts of the rest, so that is only text for
 * people: do not decide about rights by it.
 *
 * A post to 100,000 members has as many lines, so a caller reads one part at a time. Each part says where the next one
 * begins.
 *
 *     g_auto(PostTrace) trace = {.directory = ..., .key = key, .list = list, .most = 100};
 *     if (trace_begin(&trace, place_of_the_part_before) && trace_read(&trace, rows, &error))
 *         ... show rows, and keep trace.next as the place for the next part
 *
 * A line of the trail becomes a row for each recipient that it names: the object of trace_line_json(), with `email`
 * besides. If the line is about an attempt to deliver, host, status (sent, deferred, bounced), dsn and reply are that
 * attempt's; else they are null. A line that names no recipient becomes one row, by trace_line_json(). The rows of a
 * part are in order of time.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "base/config.h"
#include "store/lists/list.h"

/* ---- a line ---- */

#define TRACE_LINE_STAMP (sizeof("2026-11-28T06:49:10.341Z") - 1)
#define TRACE_DIGITS 12

/* Is the text a trace, the id of a mail in the log ("37b968e27c1b")? */
bool trace_is(const char *text);

/* Return the value behind the first " NAME=" of a line; g_free(). NULL: there is none. */
char *trace_line_value(const char *line, const char *name);
/* Return the recipients that a line names; g_strfreev(). NULL: it names none. */
char **trace_line_recipients(const char *line);
/* Is the line about the address (NULL: any)? A line that names no recipient is about every address. */
bool trace_line_is_about(const char *line, const char *address);

/* Return the line as an object {time, program, trace, list, text}, a new reference. With an address, `text` names only
 * this one of the recipients. */
json_t *trace_line_json(const char *line, const char *address);

/* ---- a post ---- */

#define POST_TRACE_MAILS 20 /* of one Message-ID, which are shown */

typedef struct PostTrace {
    const char *directory; /* [trail] directory */
    const char *key;       /* of trace_find_key() */
    const List *list;      /* read only lines about this list, and none from before it was made; NULL: all */
    const char *address;   /* NULL: of all recipients */
    unsigned most;         /* rows of recipients, and as many of others */
    char *next;            /* where the next part begins; NULL: there are no more; trace_clear() */
    uint64_t damaged;      /* blocks of the trail that were left out */
    bool more_mails;       /* there are mails with this key that are not shown */
} PostTrace;

/* Begin at the place that was `next` after the part before; NULL: at the first row. False: the text is no place. */
bool trace_begin(PostTrace *trace, const char *place);
/* Append the rows of one part to the array `rows`, and set trace->next. A part may have no rows and still a next one,
 * if many lines were read that are not wanted. FAIL_LATER: the trail cannot be read. */
bool trace_read(PostTrace *trace, json_t *rows, GError **error);
void trace_clear(PostTrace *trace);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PostTrace, trace_clear)

/* Return the names of the site's other hosts, in order, a new reference: each keeps a trail of its own, which
 * trace_read() does not see. The array is empty where the configuration says that there is one host. */
json_t *trace_not_asked(Store *store, const Config *config, GError **error);

/* Return the key for the text that a person gave, which is "<MESSAGE-ID>", a Message-ID, a trace, or "LIST#NUMBER";
 * g_free(). For "LIST#NUMBER" the key is "#NUMBER", and *list (g_free()) is LIST, whose List-Id the caller puts before
 * the key. Else *list is NULL. */
char *trace_key(const char *what, char **list);
/* Return the whole key for such a text, with the List-Id of LIST in it; g_free(). FAIL_MISSING: there is no such list.
 */
char *trace_find_key(Store *store, const char *what, GError **error);
