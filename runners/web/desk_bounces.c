/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This page shows the bounces of a list's mail: a chart of the last days, and the members who stand badly. */
#include "base/clock.h"
#include "runners/web/desk.h"
#include "store/lists/list_setting.h"
#include "store/people/bounce.h"

#define DAYS 90
#define STEP 4 /* units of the chart for a day */
#define HEIGHT 40
#define SHOWN 200 /* members */

typedef struct Chart {
    int64_t first; /* day */
    int64_t bounces[DAYS];
} Chart;

static bool count_day(const BounceDay *day, void *data)
{
    Chart *chart = data;
    if (day->day >= chart->first && day->day < chart->first + DAYS)
        chart->bounces[day->day - chart->first] += day->bounces;
    return true;
}

/* Set "chart", and what it shows in words: total, most and its day. */
static void set_chart(json_t *view, const Chart *chart)
{
    json_t *bars = json_array();
    int64_t total = 0;
    int most = 0;
    for (int i = 0; i < DAYS; i++) {
        total += chart->bounces[i];
        most = chart->bounces[i] > chart->bounces[most] ? i : most;
    }
    for (int i = 0; i < DAYS; i++) {
        const int height = (int)MAX(chart->bounces[i] * HEIGHT / MAX(chart->bounces[most], 1), 1);
        if (chart->bounces[i] > 0)
            json_array_append_new(bars, json_pack("{si si si}", "x", i * STEP, "y", HEIGHT - height, "height", height));
    }
    g_autoptr(GDateTime) day = g_date_time_new_from_unix_utc((chart->first + most) * (BOUNCE_DAY / CLOCK_SECOND));
    g_autofree char *most_day = g_date_time_format(day, "%Y-%m-%d");
    json_object_set_new(view, "total", json_integer(total));
    json_object_set_new(view, "most", json_integer(chart->bounces[most]));
    json_object_set_new(view, "most_day", json_string(most_day));
    json_object_set_new(view, "chart",
                        total > 0 ? json_pack("{si si so}", "width", DAYS * STEP, "height", HEIGHT, "bars", bars)
                                  : (json_decref(bars), json_null()));
}

static bool add_standing(const BounceScore *score, const BounceDay *last, void *data)
{
    json_t *rows = data;
    g_autofree char *points = g_strdup_printf("%" G_GINT64_FORMAT ".%02d", score->score / 100,
                                              (int)(score->score % 100));
    json_t *view = json_pack("{ss sb}", "points", points, "stopped", score->status == DELIVERY_BY_BOUNCES);
    desk_set_line(view, "address", score->address);
    desk_set_line(view, "reason", last ? last->reason : "");
    desk_set_line(view, "text", last ? last->text : "");
    json_array_append_new(rows, view);
    return json_array_size(rows) < SHOWN;
}

static void get_bounces(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    Chart chart = {.first = clock_now() / BOUNCE_DAY - DAYS + 1};
    const BounceFilter of_list = {.list_id = desk.list->list_id};
    const BounceFilter lately = {.list_id = desk.list->list_id, .since = chart.first * BOUNCE_DAY};
    json_t *view = json_object(), *rows = json_array();
    json_object_set_new(view, "members", rows);
    if (!bounce_day_each(desk_store(&desk), &lately, count_day, &chart, &error) ||
        !bounce_standing_each(desk_store(&desk), &of_list, add_standing, rows, &error)) {
        json_decref(view);
        web_fail(call, error);
        return;
    }
    set_chart(view, &chart);
    json_object_set_new(view, "threshold", json_integer(desk.list->settings->bounce_score_threshold));
    json_object_set_new(view, "more", json_boolean(json_array_size(rows) >= SHOWN));
    desk_page(&desk, 200, "desk_bounces", view);
}

const WebRoute web_desk_bounces[] = {
    {"GET", "/desk/list/{}/bounces", get_bounces},
    {.verb = NULL},
};
