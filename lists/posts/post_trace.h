/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read what became of a post, from the trail (base/trail/trail.h), which keeps log lines by mail. A post to 100,000
 * members has as many lines, so a caller reads one part at a time. Each part says where the next one begins.
 *
 *     g_auto(PostTrace) trace = {.directory = ..., .key = key, .list = list, .most = 100};
 *     if (post_trace_begin(&trace, place_of_the_part_before) && post_trace_read(&trace, rows, &error))
 *         ... show rows, and keep trace.next as the place for the next part
 *
 * A line of the trail becomes a row for each recipient that it names, by trace_line_of_recipient(). A line that names
 * none becomes one row, by trace_line_json(). The rows of a part are in order of time.
 */
#include "base/config.h"
#include "lists/posts/trace_line.h"
#include "store/lists/list.h"

#define POST_TRACE_MAILS 20 /* of one Message-ID, which are shown */

typedef struct PostTrace {
    const char *directory; /* [trail] directory */
    const char *key;       /* of post_trace_find_key() */
    const List *list;      /* read only lines about this list, and none from before it was made; NULL: all */
    const char *address;   /* NULL: of all recipients */
    unsigned most;         /* rows of recipients, and as many of others */
    char *next;            /* where the next part begins; NULL: there are no more; post_trace_clear() */
    uint64_t damaged;      /* blocks of the trail that were left out */
    bool more_mails;       /* there are mails with this key that are not shown */
} PostTrace;

/* Begin at the place that was `next` after the part before; NULL: at the first row. False: the text is no place. */
bool post_trace_begin(PostTrace *trace, const char *place);
/* Append the rows of one part to the array `rows`, and set trace->next. A part may have no rows and still a next one,
 * if many lines were read that are not wanted. FAIL_LATER: the trail cannot be read. */
bool post_trace_read(PostTrace *trace, json_t *rows, GError **error);
void post_trace_clear(PostTrace *trace);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PostTrace, post_trace_clear)

/* Return the names of the site's other hosts, in order, a new reference: each keeps a trail of its own, which
 * post_trace_read() does not see. The array is empty where the configuration says that there is one host. */
json_t *post_trace_not_asked(Store *store, const Config *config, GError **error);

/* Return the key for the text that a person gave, which is "<MESSAGE-ID>", a Message-ID, a trace, or "LIST#NUMBER";
 * g_free(). For "LIST#NUMBER" the key is "#NUMBER", and *list (g_free()) is LIST, whose List-Id the caller puts before
 * the key. Else *list is NULL. */
char *post_trace_key(const char *what, char **list);
/* Return the whole key for such a text, with the List-Id of LIST in it; g_free(). FAIL_MISSING: there is no such list.
 */
char *post_trace_find_key(Store *store, const char *what, GError **error);
