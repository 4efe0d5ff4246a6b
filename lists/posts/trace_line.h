/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Take apart a line of the trail (base/trail/trail.h), which keeps lines of the log by mail. A line looks like this:
 *
 *   2026-11-28T06:49:10.341Z out[0]: 37b968e27c1b list=cats.lists.example.com queue=out to=<anne@example.org>,<bart@
 *   example.org> relay=mx.example.org[192.0.2.7]:25 delay=0.3 delays=0.1/0/0.1/0.1 dsn=2.0.0 status=sent (250 2.0.0 Ok)
 *
 * The program itself wrote the line up to the list. Peers and authors wrote parts of the rest, so that is only text for
 * people: do not decide about rights by it.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#define TRACE_LINE_STAMP (sizeof("2026-11-28T06:49:10.341Z") - 1)
#define TRACE_DIGITS 12

/* Is the text a trace, the id of a mail in the log ("37b968e27c1b")? */
bool trace_is(const char *text);

/* Return the value behind the first " NAME=" of a line; g_free(). NULL: there is none. */
char *trace_line_value(const char *line, const char *name);
/* Is the line about this list? It is when list= stands right behind the trace, where no peer can have written it. */
bool trace_line_is_of(const char *line, const char *list_id);
/* Return the recipients that a line names; g_strfreev(). NULL: it names none. */
char **trace_line_recipients(const char *line);
/* Is the line about the address (NULL: any)? A line that names no recipient is about every address. */
bool trace_line_is_about(const char *line, const char *address);

/* Return the line as an object {time, program, trace, list, text}, a new reference. With an address, `text` names only
 * this one of the recipients. */
json_t *trace_line_json(const char *line, const char *address);
/* Return the object of trace_line_json() for one recipient, with `email` besides. If the line is about an attempt to
 * deliver, host, status (sent, deferred, bounced), dsn and reply are that attempt's; else they are null. */
json_t *trace_line_of_recipient(const char *line, const char *address);
