/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/queues/queue_act.h"

/* Ten digits are in a name. */
#define DUE_MAX INT64_C(9999999999)
#define SPAN_MAX (100 * 366 * INT64_C(86400))

static const char *const except[] = {HOLD_QUEUE, SHUNT_QUEUE, CORRUPT_QUEUE, NULL};

static int64_t due;

static bool in_place(Operate *operate, Queue *queue, EntryName *name, GError **error)
{
    return operate_set_due(operate, queue, name, due, error);
}

static const QueueVerb verb = {.name = "edit-due", .past = "changed", .except = except, .in_place = in_place};

/* "+1h30m", "+90": from now on. */
static bool parse_span(const char *text, int64_t *span)
{
    static const struct {
        char letter;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
    int64_t seconds = 0;
    if (!*text)
        return false;
    while (*text) {
        char *end;
        guint64 number = g_ascii_strtoull(text, &end, 10);
        if (!g_ascii_isdigit(*text) || number > SPAN_MAX)
            return false;
        int64_t factor = *end ? 0 : 1;
        for (size_t i = 0; *end && i < G_N_ELEMENTS(units); i++)
            if (units[i].letter == *end)
                factor = units[i].seconds;
        if (factor == 0)
            return false;
        seconds += (int64_t)number * factor;
        text = *end ? end + 1 : end;
    }
    *span = seconds * CLOCK_SECOND;
    return seconds <= SPAN_MAX;
}

static bool parse_time(const char *text, int64_t *time)
{
    int64_t span;
    *time = clock_now();
    if (strcmp(text, "now") == 0)
        return true;
    if (*text == '+' && parse_span(text + 1, &span)) {
        *time += span;
        return true;
    }
    g_autoptr(GTimeZone) here = g_time_zone_new_local();
    g_autofree char *iso = g_strdelimit(g_strdup(text), " ", 'T');
    g_autoptr(GDateTime) date = g_date_time_new_from_iso8601(iso, here);
    if (!date)
        return false;
    *time = g_date_time_to_unix(date) * CLOCK_SECOND;
    return *time > 0 && *time / CLOCK_SECOND <= DUE_MAX;
}

static int run_edit_due(Site *site, int argc, char **argv, GError **error)
{
    g_autofree char *shown = g_utf8_make_valid(argv[0], -1);
    if (!parse_time(argv[0], &due))
        return command_usage(error, "'%s' is no time: say now, +1h30m or 2026-11-21T10:00:00Z", shown);
    return queue_act_run(&verb, site, argc - 1, argv + 1, error);
}

static const GOptionEntry options[] = {
    QUEUE_SELECT_OPTIONS,
    QUEUE_ACT_OPTIONS,
    G_OPTION_ENTRY_NULL,
};

const Command queue_edit_due = {
    .name = "edit-due",
    .arguments = "TIME [ENTRY...]",
    .summary = "Set when entries are due",
    .details = "TIME is now, a span from now on such as +90s, +1h30m, +2d, or a date and time such as\n"
               "2026-11-21T10:00:00Z (without Z or offset: local time).",
    .least = 1,
    .most = -1,
    .options = options,
    .run = run_edit_due,
};
