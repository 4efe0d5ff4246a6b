/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The fate of a post, by the trail (base/trail.h), is read in parts: one to 100,000 members is read for as long as one
 * part takes, and goes on where that ended.
 *
 *     g_auto(PostTrace) trace = {.directory = ..., .key = key, .list = list, .most = 100};
 *     if (post_trace_begin(&trace, place_of_the_part_before) && post_trace_read(&trace, rows, &error))
 *         ... rows, and trace.next where they go on
 *
 * A row is an object of trace_line_of_recipient() for each recipient of a line, or of trace_line_json() for a line that
 * names none; those of a part are in order of time.
 */
#include "lists/trace_line.h"
#include "store/list.h"

#define POST_TRACE_MAILS 20 /* of one Message-ID, which are shown */

typedef struct PostTrace {
    const char *directory; /* [trail] directory */
    const char *key;       /* post_trace_key(), with a list's number made whole */
    const List *list;      /* read what is about this list, since it was made; NULL: all */
    const char *address;   /* NULL: of all recipients */
    unsigned most;         /* rows of recipients, and as many of others */
    char *next;            /* where the next part begins; NULL: there are no more; post_trace_clear() */
    uint64_t damaged;      /* blocks of the trail that were left out */
    bool more_mails;       /* more than POST_TRACE_MAILS have the key */
} PostTrace;

/* Begin at the place that `next` of the part before was; NULL: at the first row. false: it is no such place. */
bool post_trace_begin(PostTrace *trace, const char *place);
/* Append the rows of a part. There may be none and a next, where much was read in vain. FAIL_LATER: the trail cannot be
 * read. */
bool post_trace_read(PostTrace *trace, json_t *rows, GError **error);
void post_trace_clear(PostTrace *trace);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PostTrace, post_trace_clear)

/* The key of "<MESSAGE-ID>", a Message-ID, a trace, or "LIST#NUMBER", g_free(); *list (g_free()) is then LIST, which is
 * still to be found, and the key "#NUMBER"; else NULL. */
char *post_trace_key(const char *what, char **list);
/* The same, and find the list. FAIL_MISSING: there is none. */
char *post_trace_find_key(Store *store, const char *what, GError **error);
