/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/date.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "mail/date.h"

#define VALUE_MAX 200 /* bytes; a comment at best stands behind */

/* A date while it is read; day, month and year are 0 until they were. */
typedef struct DateParts {
    int year, month, day, hour, minute, second, zone; /* minutes ahead of UTC */
    bool timed, zoned, afternoon, forenoon;
} DateParts;

typedef struct DateWord {
    const char *word; /* small letters */
    int value;
} DateWord;

/* How names of months begin, in English, German, Dutch, Danish, French, Spanish, Italian and Portuguese. */
static const DateWord months[] = {
    {"jan", 1},   {"ene", 1},  {"gen", 1},  {"feb", 2},  {"fév", 2},  {"fev", 2},  {"mar", 3},  {"mär", 3},
    {"mrt", 3},   {"maart", 3}, {"apr", 4}, {"abr", 4},  {"avr", 4},  {"may", 5},  {"mai", 5},  {"mag", 5},
    {"mei", 5},   {"maj", 5},  {"jun", 6},  {"juin", 6}, {"giu", 6},  {"jul", 7},  {"juil", 7}, {"lug", 7},
    {"aug", 8},   {"ago", 8},  {"aoû", 8},  {"aou", 8},  {"sep", 9},  {"set", 9},  {"oct", 10}, {"okt", 10},
    {"ott", 10},  {"out", 10}, {"nov", 11}, {"dec", 12}, {"déc", 12}, {"dez", 12}, {"dic", 12},
};

/* Minutes ahead of UTC. Of names that several zones have, the one whose mail is the most. */
static const DateWord zones[] = {
    {"ut", 0},     {"utc", 0},    {"gmt", 0},    {"z", 0},      {"wet", 0},    {"west", 60},  {"bst", 60},
    {"met", 60},   {"mez", 60},   {"cet", 60},   {"mest", 120}, {"mesz", 120}, {"cest", 120}, {"eet", 120},
    {"sast", 120}, {"eest", 180}, {"msk", 180},  {"msd", 240},  {"ist", 330},  {"hkt", 480},  {"sgt", 480},
    {"awst", 480}, {"jst", 540},  {"kst", 540},  {"acst", 570}, {"aest", 600}, {"aedt", 660}, {"nzst", 720},
    {"nzdt", 780}, {"brt", -180}, {"adt", -180}, {"ast", -240}, {"edt", -240}, {"est", -300}, {"cdt", -300},
    {"cst", -360}, {"mdt", -360}, {"mst", -420}, {"pdt", -420}, {"pst", -480}, {"akdt", -480}, {"akst", -540},
    {"hst", -600},
};

static bool is_letter(char c)
{
    return g_ascii_isalpha(c) || (c & 0x80) != 0;
}

/* Read a number and step over it; digits: of how many. False: it has more than four. */
static bool take_number(const char **at, int *number, size_t *digits)
{
    *digits = strspn(*at, "0123456789");
    *number = *digits <= 4 ? (int)g_ascii_strtoull(*at, NULL, 10) : 0;
    *at += *digits;
    return *digits <= 4;
}

/* Read the number behind a mark that joins it to the one before, as in "10:11" or "2026-11-03". */
static bool take_joined(const char **at, const char *marks, int *number, size_t *digits)
{
    if (**at == '\0' || !strchr(marks, **at) || !g_ascii_isdigit((*at)[1]))
        return false;
    (*at)++;
    return take_number(at, number, digits);
}

/* "26" is 2026, "97" is 1997, "126" is 2026 (RFC 5322, 4.3). */
static int full_year(int number, size_t digits)
{
    return digits >= 4 ? number : digits == 3 || number >= 50 ? 1900 + number : 2000 + number;
}

static bool take_digits(DateParts *date, const char **at)
{
    int number, second, third;
    size_t digits, length;
    if (!take_number(at, &number, &digits))
        return false;
    bool joined = g_ascii_isdigit(**at ? (*at)[1] : '\0');
    if (joined && !date->timed && (**at == ':' || (**at == '.' && date->month != 0 && date->day != 0))) {
        /* ":11", ":11:12", ":11:12.345" behind the hour. */
        date->timed = true;
        date->hour = number;
        if (!take_joined(at, ":.", &date->minute, &length) || length > 2)
            return false;
        if (!take_joined(at, ":.", &date->second, &length))
            return true;
        if ((**at == '.' || **at == ',') && g_ascii_isdigit((*at)[1]) && length <= 2)
            *at += 1 + strspn(*at + 1, "0123456789");
        return length <= 2;
    }
    if (joined && date->month == 0 && **at != '\0' && strchr("-/.", **at)) {
        /* The rest of "2026-11-03", "2026/11/03", "3.11.2026", "03-11-2026", and of "11/3/2026", in which the month is
         * the first unless it is above 12. Such a number may be the hour of "12.31.30", too. */
        char mark[2] = {**at, '\0'};
        if (!take_joined(at, mark, &second, &length) || !take_joined(at, mark, &third, &length))
            return false;
        bool year_first = digits == 4, month_first = !year_first && *mark == '/' && number <= 12;
        date->year = year_first ? number : full_year(third, length);
        date->month = year_first || !month_first ? second : number;
        date->day = year_first ? third : month_first ? second : number;
        return true;
    }
    if (date->day == 0 && digits <= 2)
        date->day = number;
    else if (date->year == 0 && digits >= 2)
        date->year = full_year(number, digits);
    return true;
}

/* Read all that says something, in whatever order it stands. */
static bool read_parts(const char *at, DateParts *date)
{
    while (*at) {
        if (g_ascii_isdigit(*at)) {
            if (!take_digits(date, &at))
                return false;
        } else if (is_letter(*at)) {
            /* A month, a zone, the half of a day. A weekday, or a word that nobody knows, says nothing. */
            size_t length = 0;
            while (is_letter(at[length]))
                length++;
            g_autofree char *word = g_strndup(at, length);
            bool half = length == 1 && g_str_has_prefix(at + length, ".m");
            at += length + (half ? 2 : 0);
            half |= length == 2 && word[1] == 'm';
            date->afternoon |= half && *word == 'p';
            date->forenoon |= half && *word == 'a';
            for (size_t i = 0; i < G_N_ELEMENTS(months); i++)
                if (g_str_has_prefix(word, months[i].word))
                    date->month = months[i].value;
            for (size_t i = 0; i < G_N_ELEMENTS(zones) && date->timed && !date->zoned; i++)
                if (strcmp(word, zones[i].word) == 0)
                    date->zone = zones[i].value;
        } else if ((*at == '+' || *at == '-') && g_ascii_isdigit(at[1]) && date->timed && !date->zoned) {
            /* "+0100", "-03:30", "+2". One that is more than a day from UTC says nothing. */
            int sign = *at++ == '-' ? -1 : 1, number, rest;
            size_t digits, length;
            if (!take_number(&at, &number, &digits))
                return false;
            int minutes = digits > 2 ? number / 100 * 60 + number % 100 : number * 60;
            if (digits <= 2 && take_joined(&at, ":", &rest, &length))
                minutes += rest;
            date->zone = minutes <= 24 * 60 ? sign * minutes : 0;
            date->zoned = true;
        } else if (*at == '(') {
            int depth = 0;
            do
                depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
            while (*++at && depth > 0);
        } else {
            at++;
        }
    }
    if (date->afternoon && date->hour < 12)
        date->hour += 12;
    if (date->forenoon && date->hour == 12)
        date->hour = 0;
    if (date->second == 60) /* a leap second, which GDateTime does not know */
        date->second = 59;
    return date->year > 0 && date->month > 0 && date->day > 0;
}

bool date_parse(const char *value, int64_t *seconds, int *zone)
{
    g_autofree char *brief = g_strndup(value, MIN(strlen(value), VALUE_MAX));
    g_autofree char *small = g_utf8_validate(brief, -1, NULL) ? g_utf8_strdown(brief, -1) : g_ascii_strdown(brief, -1);
    DateParts read = {0};
    if (!read_parts(small, &read))
        return false;
    g_autoptr(GDateTime) date = g_date_time_new_utc(read.year, read.month, read.day, read.hour, read.minute,
                                                    read.second);
    int64_t time = date ? g_date_time_to_unix(date) - read.zone * 60 : -1;
    if (time < 0)
        return false;
    *seconds = time;
    *zone = read.zone;
    return true;
}

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
