/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The first page of a list's archive, with its months and latest threads; the page of a month; feeds. */
#include <string.h>

#include "base/clock.h"
#include "runners/web/archive.h"
#include "store/lists/list.h"

#define THREADS 40       /* on a page */
#define MESSAGES 200     /* of a month on a page */
#define CHART_MONTHS 120 /* the last ten years */
#define CHART_LEAST 36   /* so that a few months do not look like many */
#define CHART_HEIGHT 48
#define CHART_STEP 4 /* between two bars */

/* ---- months ---- */

/* Set "months": by year, the newest first. */
static void set_months(const ArchiveReading *reading, json_t *view, const GArray *months)
{
    json_t *years = json_array(), *own = NULL;
    int year = 0;
    for (guint i = months->len; i-- > 0;) {
        const ArchiveMonth *month = &g_array_index(months, ArchiveMonth, i);
        if (month->year != year) {
            own = json_array();
            json_array_append_new(years, json_pack("{si so}", "year", month->year, "months", own));
            year = month->year;
        }
        char place[32];
        g_snprintf(place, sizeof(place), "%04d-%02d", month->year, month->month);
        g_autofree char *name = archive_month_title(reading->call, month->year, month->month);
        *strrchr(name, ' ') = '\0';
        json_array_append_new(
            own, json_pack("{ss ss sI}", "place", place, "month", name, "posts", (json_int_t)month->posts));
    }
    json_object_set_new(view, "years", years);
}

static int month_number(const ArchiveMonth *month)
{
    return month->year * 12 + month->month - 1;
}

/* Set "chart": a bar for each month in which something was posted, of the last CHART_MONTHS. */
static void set_chart(json_t *view, const GArray *months)
{
    int64_t most = 0;
    if (months->len < 2)
        return;
    json_t *bars = json_array();
    int last = month_number(&g_array_index(months, ArchiveMonth, months->len - 1));
    int first = MAX(month_number(&g_array_index(months, ArchiveMonth, 0)), last - CHART_MONTHS + 1);
    first = MIN(first, last - CHART_LEAST + 1);
    for (guint i = 0; i < months->len; i++)
        if (month_number(&g_array_index(months, ArchiveMonth, i)) >= first)
            most = MAX(most, g_array_index(months, ArchiveMonth, i).posts);
    for (guint i = 0; i < months->len; i++) {
        const ArchiveMonth *month = &g_array_index(months, ArchiveMonth, i);
        int height = (int)MAX(month->posts * CHART_HEIGHT / MAX(most, 1), 1);
        if (month_number(month) >= first)
            json_array_append_new(bars, json_pack("{si si si}", "x", (month_number(month) - first) * CHART_STEP, "y",
                                                  CHART_HEIGHT - height, "height", height));
    }
    json_object_set_new(
        view, "chart",
        json_pack("{si si so}", "width", (last - first + 1) * CHART_STEP, "height", CHART_HEIGHT, "bars", bars));
}

/* ---- threads ---- */

/* Set "threads", the latest behind `before` (may be NULL), and "older". */
static bool set_threads(const ArchiveReading *reading, json_t *view, const char *before, GError **error)
{
    ArchivePage page = {.limit = THREADS + 1};
    json_t *lines = json_array();
    archive_place_read(reading, before, true, &page.behind);
    g_autoptr(GPtrArray) threads = archive_index_threads(reading->index, reading->found->number, &page, error);
    json_object_set_new(view, "threads", lines);
    if (!threads)
        return false;
    for (guint i = 0; i < MIN(threads->len, THREADS); i++) {
        const ArchiveThread *thread = threads->pdata[i];
        json_t *line = archive_top(reading, thread);
        web_set_time(line, "last", thread->last);
        json_object_set_new(line, "posts", json_integer(thread->posts));
        json_object_set_new(line, "answered", json_boolean(thread->posts > 1));
        json_array_append_new(lines, line);
    }
    if (threads->len > THREADS) {
        const ArchiveThread *last = threads->pdata[THREADS - 1];
        g_autofree char *place = archive_place_text(last->last, last->hash);
        json_object_set_new(view, "older", json_string(place));
    }
    return true;
}

/* The page of a list; ?before=PLACE for the next threads. */
static void get_archive(WebCall *call)
{
    GError *error = NULL;
    g_auto(ArchiveReading) reading = {0};
    if (!archive_read(call, &reading))
        return;
    g_autofree char *before = web_query(call, "before");
    json_t *view = archive_view(&reading, NULL);
    json_object_set_new(view, "first_page", json_boolean(!before));
    if (reading.found) {
        g_autoptr(GArray) months = archive_index_months(reading.index, reading.found->number, &error);
        if (!months || !set_threads(&reading, view, before, &error)) {
            json_decref(view);
            archive_fail(call, error);
            return;
        }
        json_object_set_new(view, "posts", json_integer(reading.found->posts));
        set_months(&reading, view, months);
        set_chart(view, months);
    }
    archive_page(&reading, "archive", view);
}

/* ---- a month ---- */

static int64_t month_begin(int year, int month)
{
    g_autoptr(GDateTime) begin = g_date_time_new_utc(year + (month - 1) / 12, (month - 1) % 12 + 1, 1, 0, 0, 0);
    return begin ? g_date_time_to_unix(begin) * CLOCK_SECOND : 0;
}

static void set_month(json_t *view, const char *name, const WebCall *call, int number)
{
    char place[32];
    g_snprintf(place, sizeof(place), "%04d-%02d", number / 12, number % 12 + 1);
    g_autofree char *title = archive_month_title(call, number / 12, number % 12 + 1);
    json_object_set_new(view, name, json_pack("{ss ss}", "place", place, "title", title));
}

/* Set "days" of {day, messages} from messages by date, and "later" when the page does not hold all. */
static void set_days(const ArchiveReading *reading, json_t *view, const GPtrArray *messages)
{
    json_t *days = json_array(), *own = NULL;
    g_autofree char *day = g_strdup("");
    for (guint i = 0; i < MIN(messages->len, MESSAGES); i++) {
        json_t *line = archive_line(reading, messages->pdata[i]);
        const char *date = json_string_value(json_object_get(line, "date"));
        g_autofree char *its_day = g_strndup(date, strcspn(date, " "));
        if (!g_str_equal(its_day, day)) {
            own = json_array();
            json_array_append_new(days, json_pack("{ss so}", "day", its_day, "messages", own));
            g_free(day);
            day = g_steal_pointer(&its_day);
        }
        json_object_set_new(line, "time", json_string(date + strcspn(date, " ")));
        json_array_append_new(own, line);
    }
    json_object_set_new(view, "days", days);
    if (messages->len > MESSAGES) {
        const ArchiveMessage *last = messages->pdata[MESSAGES - 1];
        g_autofree char *place = archive_place_text(last->date, last->hash);
        json_object_set_new(view, "later", json_string(place));
    }
}

/* ?after=PLACE for the next messages. */
static void get_month(ArchiveReading *reading, const ArchiveMonth *own)
{
    GError *error = NULL;
    WebCall *call = reading->call;
    if (!reading->found) {
        web_missing(call, NULL);
        return;
    }
    ArchivePage page = {.from = month_begin(own->year, own->month),
                        .to = month_begin(own->year, own->month + 1),
                        .oldest_first = true,
                        .limit = MESSAGES + 1};
    g_autofree char *after = web_query(call, "after"), *title = archive_month_title(call, own->year, own->month);
    archive_place_read(reading, after, false, &page.behind);
    g_autoptr(GPtrArray) messages = archive_index_messages(reading->index, reading->found->number, &page, &error);
    g_autoptr(GArray) months = messages ? archive_index_months(reading->index, reading->found->number, &error) : NULL;
    if (!months) {
        archive_fail(call, error);
        return;
    }
    json_t *view = archive_view(reading, title);
    json_object_set_new(view, "month", json_string(title));
    json_object_set_new(view, "place", json_string(call->args[1]));
    int previous = 0, next = 0; /* months in which something was posted */
    for (guint i = 0; i < months->len; i++) {
        const ArchiveMonth *month = &g_array_index(months, ArchiveMonth, i);
        int number = month_number(month);
        if (number < month_number(own))
            previous = number;
        else if (number == month_number(own))
            json_object_set_new(view, "posts", json_integer(month->posts));
        else if (next == 0)
            next = number;
    }
    if (previous > 0)
        set_month(view, "previous", call, previous);
    if (next > 0)
        set_month(view, "next", call, next);
    set_days(reading, view, messages);
    archive_page(reading, "month", view);
}

/* Read "2026-11", with what must stand behind it. */
static bool read_month(const char *text, const char *end, ArchiveMonth *month)
{
    for (int i = 0; i < 7; i++)
        if (i == 4 ? text[i] != '-' : !g_ascii_isdigit(text[i]))
            return false;
    month->year = atoi(text);
    month->month = atoi(text + 5);
    return month->year >= 1970 && month->month >= 1 && month->month <= 12 && g_str_equal(text + 7, end);
}

/* "2026-11", "2026-11.mbox.gz", or a hash. */
static void get_part(WebCall *call)
{
    ArchiveMonth month;
    g_auto(ArchiveReading) reading = {0};
    if (!archive_read(call, &reading))
        return;
    if (read_month(call->args[1], "", &month))
        get_month(&reading, &month);
    else if (read_month(call->args[1], ".mbox.gz", &month))
        archive_get_month_mails(&reading, month_begin(month.year, month.month),
                                month_begin(month.year, month.month + 1));
    else
        archive_get_message(&reading);
}

const WebRoute web_archive[] = {
    {"GET", "/archive/{}", get_archive},
    {"GET", "/archive/{}/{}", get_part},
    {.verb = NULL},
};
