/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/send_at.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"

#define CLOCK "(?<minute>\\d{2}:\\d{2})(?<second>:\\d{2})?"
#define ZONE "(?<zone>[Zz]|UTC?|GMT|[+-]\\d{2}:?\\d{2})"
/* ISO 8601 and RFC 3339, with a blank allowed for the T, and parts of a second left out; and RFC 5322, 3.3. */
#define ISO "^(?<year>\\d{4})-(?<month>\\d{2})-(?<day>\\d{2})[Tt ] *" CLOCK "(?:[.]\\d+)? ?" ZONE "$"
#define RFC_5322                                                                                        \
    "^([A-Za-z]{3}, *)?(?<day>\\d{1,2}) +(?<month>[A-Za-z]{3}) +(?<year>\\d{4}) +" CLOCK " +" ZONE "( " \
    "*\\([^()]*\\))?$"
#define SHOWN_MAX 60 /* characters of what cannot be read */

char *send_at_take(Message *message)
{
    char *value = message_value(message, SEND_AT_FIELD);
    if (value)
        message_remove(message, SEND_AT_FIELD);
    return value;
}

/* "12" or "Dec"; 0: it is none. */
static int month_of(const char *text)
{
    static const char *const names[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
    for (int at = 0; at < (int)G_N_ELEMENTS(names); at++)
        if (g_ascii_strcasecmp(text, names[at]) == 0)
            return at + 1;
    return atoi(text);
}

static bool read_form(const char *text, const char *pattern, int64_t *seconds)
{
    g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    if (!g_regex_match(regex, text, 0, &match))
        return false;
    g_autofree char *year = g_match_info_fetch_named(match, "year"), *day = g_match_info_fetch_named(match, "day");
    g_autofree char *month = g_match_info_fetch_named(match, "month"), *zone = g_match_info_fetch_named(match, "zone");
    g_autofree char *minute = g_match_info_fetch_named(match, "minute");
    g_autofree char *second = g_match_info_fetch_named(match, "second");
    g_autofree char *plain = g_strdup_printf("%s-%02d-%02dT%s%s%s", year, month_of(month), atoi(day), minute,
                                             second && *second ? second : ":00", g_ascii_isalpha(*zone) ? "Z" : zone);
    g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(plain, NULL);
    if (time)
        *seconds = g_date_time_to_unix(time);
    return time != NULL;
}

/* Without control characters and blanks at its ends, and cut. */
static char *show(const char *text)
{
    g_autofree char *valid = g_strstrip(g_utf8_make_valid(text, -1));
    for (char *at = valid; *at; at++)
        if (g_ascii_iscntrl(*at))
            *at = ' ';
    return g_utf8_substring(valid, 0, MIN(g_utf8_strlen(valid, -1), SHOWN_MAX));
}

bool send_at_read(const char *text, int64_t now, int64_t *due, GError **error)
{
    g_autofree char *plain = g_strstrip(g_strdup(text)), *shown = show(text);
    int64_t seconds;
    *due = 0;
    if (g_ascii_strcasecmp(plain, "now") == 0)
        return true;
    if (!g_utf8_validate(plain, -1, NULL) ||
        (!read_form(plain, ISO, &seconds) && !read_form(plain, RFC_5322, &seconds)))
        return fail(error, FAIL_NEVER,
                    "\"%s\" is no time with its zone at which a post can be sent, as 2026-12-24 08:00 +0100 is.",
                    shown);
    if (seconds > now / CLOCK_SECOND + SEND_AT_MOST_DAYS * INT64_C(86400))
        return fail(error, FAIL_NEVER, "The time %s, at which the post is to be sent, is more than a year ahead.",
                    shown);
    *due = MAX(seconds, 1) * CLOCK_SECOND;
    return true;
}

bool send_at_read_ahead(const char *text, int64_t now, int64_t *due, GError **error)
{
    if (!send_at_read(text, now, due, error))
        return false;
    if (*due == 0 || *due > now)
        return true;
    g_autofree char *shown = show(text);
    return fail(error, FAIL_NEVER,
                "The time %s, at which the post is to be sent, is over; the word now in its place sends the post.",
                shown);
}
