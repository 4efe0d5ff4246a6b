/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mbox_time.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define WORDS_MAX 20 /* of the text that are looked at */
#define WORD_MAX 40  /* bytes */

typedef struct Parts {
    int year, month, day; /* 0: not seen */
    int hour, minute, second;
    bool timed;
    int zone; /* seconds east of Greenwich */
} Parts;

/* The month of "Mar", "March" or what stands between; 0: it is none. */
static int month_of(const char *word)
{
    static const char *const names[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
    size_t length = strlen(word);
    for (size_t i = 0; length >= 3 && i < G_N_ELEMENTS(names); i++)
        if (g_ascii_strncasecmp(names[i], word, length) == 0)
            return (int)i + 1;
    return 0;
}

static void read_zone(const char *word, Parts *parts)
{
    static const struct {
        const char *name;
        int hours;
    } names[] = {{"EST", -5}, {"EDT", -4}, {"CST", -6}, {"CDT", -5}, {"MST", -7}, {"MDT", -6}, {"PST", -8},
                 {"PDT", -7}, {"CET", 1},  {"MET", 1},  {"CEST", 2}, {"MEST", 2}, {"BST", 1},  {"JST", 9}};
    int hours, minutes, end = 0;
    if ((*word == '+' || *word == '-') && sscanf(word + 1, "%2d%2d%n", &hours, &minutes, &end) == 2 && end == 4 &&
        hours < 24 && minutes < 60)
        parts->zone = (hours * 60 + minutes) * (*word == '-' ? -60 : 60);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_ascii_strcasecmp(word, names[i].name) == 0)
            parts->zone = names[i].hours * 3600;
}

static void read_number(const char *word, Parts *parts)
{
    int number = (int)g_ascii_strtoull(word, NULL, 10);
    size_t length = strspn(word, "0123456789");
    if (length > 4)
        return;
    if (parts->day == 0 && length <= 2)
        parts->day = number;
    else if (parts->year == 0)
        parts->year = length == 4 ? number : number + (length <= 2 && number < 50 ? 2000 : 1900);
}

static void read_word(const char *word, Parts *parts)
{
    int hour, minute, second = 0;
    if (strchr(word, ':') && sscanf(word, "%2d:%2d:%2d", &hour, &minute, &second) >= 2) {
        parts->hour = hour;
        parts->minute = minute;
        parts->second = MIN(second, 59); /* a leap second */
        parts->timed = true;
    } else if (g_ascii_isdigit(*word)) {
        read_number(word, parts);
    } else if (parts->month == 0 && month_of(word) != 0) {
        parts->month = month_of(word);
    } else {
        read_zone(word, parts);
    }
}

/* Calls read_word() for each word outside of comments. "2-Jan-2001" is three. */
static void read_words(const char *text, Parts *parts)
{
    char word[WORD_MAX];
    size_t length = 0;
    int depth = 0, count = 0;
    for (const char *at = text; count < WORDS_MAX; at++) {
        depth += *at == '(';
        bool within = depth == 0 && *at && *at != ',' && !g_ascii_isspace(*at) &&
                      !(*at == '-' && length > 0 && at[1] && !strchr(word, ':'));
        depth -= *at == ')' && depth > 0;
        if (within) {
            word[MIN(length, sizeof word - 1)] = *at;
            length += length < sizeof word - 1;
            word[length] = '\0';
        } else if (length > 0) {
            read_word(word, parts);
            length = 0;
            count++;
        }
        if (!*at)
            return;
    }
}

int64_t mbox_time_read(const char *text)
{
    Parts parts = {0};
    read_words(text, &parts);
    if (!parts.timed || parts.month == 0 || parts.year < 1970 || parts.year > 9998 || parts.hour < 0 ||
        parts.hour > 23 || parts.minute < 0 || parts.minute > 59 || parts.second < 0 || parts.day < 1 ||
        !g_date_valid_dmy((GDateDay)parts.day, (GDateMonth)parts.month, (GDateYear)parts.year))
        return 0;
    g_autoptr(GDateTime)
        time = g_date_time_new_utc(parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second);
    int64_t seconds = time ? g_date_time_to_unix(time) - parts.zone : 0;
    return MAX(seconds, 0) * CLOCK_SECOND;
}
