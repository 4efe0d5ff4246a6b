/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * One line of the trail (base/trail.h), taken apart. Lines are as the log has them:
 *
 *   2026-11-28T06:49:10.341Z out[0]: 37b968e27c1b list=cats.lists.example.com queue=out to=<anne@example.org>,<bart@
 *   example.org> relay=mx.example.org[192.0.2.7]:25 delay=0.3 delays=0.1/0/0.1/0.1 dsn=2.0.0 status=sent (250 2.0.0 Ok)
 *
 * Peers and authors have written parts of it: what is behind the list is text for people, and decides about no rights.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#define TRACE_LINE_STAMP (sizeof("2026-11-28T06:49:10.341Z") - 1)
#define TRACE_DIGITS 12

/* Is the text a trace? */
bool trace_is(const char *text);

/* The value behind NAME= of a line; NULL: there is none. g_free() */
char *trace_line_value(const char *line, const char *name);
/* Does the program itself say that the line is about this list? */
bool trace_line_is_of(const char *line, const char *list_id);
/* The recipients that a line names; NULL: none. g_strfreev() */
char **trace_line_recipients(const char *line);
/* Is the line about the address (NULL: any)? A line that names no recipient is about every address. */
bool trace_line_is_about(const char *line, const char *address);

/* Return the line as an object {time, program, trace, list, text}, a new reference. With an address, `text` names only
 * this one of the recipients. */
json_t *trace_line_json(const char *line, const char *address);
/* Return the object of trace_line_json() for one recipient, with `email` besides. If the line is about an attempt to
 * deliver, host, status (sent, deferred, bounced), dsn and reply are that attempt's; else they are null. */
json_t *trace_line_of_recipient(const char *line, const char *address);

/* Recipients by their last status. */
typedef struct TraceFates {
    GHashTable *last; /* address -> status; trace_fates_clear() */
} TraceFates;
void trace_fates_add(TraceFates *fates, const char *address, const char *status);
void trace_fates_count(const TraceFates *fates, unsigned *sent, unsigned *bounced, unsigned *deferred);
void trace_fates_clear(TraceFates *fates);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TraceFates, trace_fates_clear)
