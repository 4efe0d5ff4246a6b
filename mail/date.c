/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/date.h"

#include <glib.h>
#include <string.h>

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

/* Read ":11", ":11:12", ":11:12.345" behind the hour. */
static bool take_time(DateParts *date, int hour, const char **at)
{
    size_t digits;
    date->timed = true;
    date->hour = hour;
    if (!take_joined(at, ":.", &date->minute, &digits) || digits > 2)
        return false;
    if (!take_joined(at, ":.", &date->second, &digits))
        return true;
    if (digits > 2)
        return false;
    if ((**at == '.' || **at == ',') && g_ascii_isdigit((*at)[1]))
        *at += 1 + strspn(*at + 1, "0123456789");
    return true;
}

/* Read the rest of "2026-11-03", "2026/11/03", "3.11.2026", "03-11-2026", and of "11/3/2026", in which the month is the
 * first unless it is above 12. Such a number may be the hour of "12.31.30", too. */
static bool take_numeric_date(DateParts *date, int first, size_t digits, const char **at)
{
    char mark[2] = {**at, '\0'};
    int second, third;
    size_t of_third;
    if (!take_joined(at, mark, &second, &of_third) || !take_joined(at, mark, &third, &of_third))
        return false;
    bool year_first = digits == 4;
    bool month_first = !year_first && *mark == '/' && first <= 12;
    date->year = year_first ? first : full_year(third, of_third);
    date->month = year_first || !month_first ? second : first;
    date->day = year_first ? third : month_first ? second : first;
    return true;
}

static bool take_digits(DateParts *date, const char **at)
{
    int number;
    size_t digits;
    if (!take_number(at, &number, &digits))
        return false;
    bool joined = g_ascii_isdigit(**at ? (*at)[1] : '\0');
    if (joined && !date->timed && (**at == ':' || (**at == '.' && date->month != 0 && date->day != 0)))
        return take_time(date, number, at);
    if (joined && date->month == 0 && **at != '\0' && strchr("-/.", **at))
        return take_numeric_date(date, number, digits, at);
    if (date->day == 0 && digits <= 2)
        date->day = number;
    else if (date->year == 0 && digits >= 2)
        date->year = full_year(number, digits);
    return true;
}

/* Read "+0100", "-03:30", "+2". One that is more than a day from UTC says nothing. */
static bool take_offset(DateParts *date, const char **at)
{
    int sign = **at == '-' ? -1 : 1, number, minutes = 0;
    size_t digits, rest;
    (*at)++;
    if (!take_number(at, &number, &digits))
        return false;
    if (digits > 2)
        minutes = number / 100 * 60 + number % 100;
    else
        minutes = number * 60 + (take_joined(at, ":", &number, &rest) ? number : 0);
    date->zone = minutes <= 24 * 60 ? sign * minutes : 0;
    date->zoned = true;
    return true;
}

/* Read a word: a month, a zone, the half of a day. A weekday, or one that nobody knows, says nothing. */
static void take_word(DateParts *date, const char **at)
{
    size_t length = 0;
    while (is_letter((*at)[length]))
        length++;
    g_autofree char *word = g_strndup(*at, length);
    *at += length;
    if (length == 1 && g_str_has_prefix(*at, ".m")) {
        *at += 2;
        length++;
    }
    date->afternoon |= length == 2 && *word == 'p' && (word[1] == 'm' || word[1] == '\0');
    date->forenoon |= length == 2 && *word == 'a' && (word[1] == 'm' || word[1] == '\0');
    for (size_t i = 0; i < G_N_ELEMENTS(months); i++)
        if (g_str_has_prefix(word, months[i].word))
            date->month = months[i].value;
    for (size_t i = 0; i < G_N_ELEMENTS(zones) && date->timed && !date->zoned; i++)
        if (strcmp(word, zones[i].word) == 0)
            date->zone = zones[i].value;
}

static const char *after_comment(const char *at)
{
    int depth = 0;
    do {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        at++;
    } while (depth > 0 && *at);
    return at;
}

/* Read all that says something, in whatever order it stands. */
static bool read_parts(const char *at, DateParts *date)
{
    while (*at) {
        if (g_ascii_isdigit(*at)) {
            if (!take_digits(date, &at))
                return false;
        } else if (is_letter(*at)) {
            take_word(date, &at);
        } else if ((*at == '+' || *at == '-') && g_ascii_isdigit(at[1]) && date->timed && !date->zoned) {
            if (!take_offset(date, &at))
                return false;
        } else {
            at = *at == '(' ? after_comment(at) : at + 1;
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
