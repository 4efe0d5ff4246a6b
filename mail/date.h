/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the date of a message: RFC 5322, 3.3, with its obsolete forms, and what mail programs wrote instead: ISO 8601,
 * asctime(), numeric dates, names of months in eight languages, names of zones, "10.11.12", "3:05 PM", "GMT+2". A word
 * that nobody knows says nothing.
 *
 * Read the time at which a post is to be sent, as its author, the shell or REST gives it:
 *
 *   X-Listrunner-Send-At: 2026-12-24 08:00 +0100
 *   X-Listrunner-Send-At: Thu, 24 Dec 2026 08:00:00 +0100
 *   X-Listrunner-Send-At: 2026-12-24T07:00:00Z
 *
 * A time must name its zone, because nobody knows otherwise which one is meant. The word "now" is read as a time, too.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mail/message.h"

/* Read the value of a Date field: seconds since 1970 UTC, and the minutes by which its zone is ahead of UTC, as written
 * (-0700 is -420; an unknown zone is 0). False, and neither is set: day, month or year is missing, there is no such
 * day or time, or it is before 1970 or after 9999. */
bool date_parse(const char *value, int64_t *seconds, int *zone);

#define SEND_AT_FIELD "X-Listrunner-Send-At"
#define SEND_AT_MOST_DAYS 366 /* ahead of now */

/* Take the field out of the message, so that no reader gets it, and return its value; g_free(). NULL: the message has
 * no such field, and is not changed. */
char *send_at_take(Message *message);

/* Read a time in one of these forms: *due is in microseconds since 1970, or 0 for the word "now". *due may be a time
 * that is over, which is not ahead of now (in the same unit). FAIL_NEVER, with a sentence for people: text cannot be
 * read, or the time is more than a year ahead. */
bool send_at_read(const char *text, int64_t now, int64_t *due, GError **error);
/* The same, and fail for a time that is over: whoever can still be asked has mistyped it. */
bool send_at_read_ahead(const char *text, int64_t now, int64_t *due, GError **error);
