/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Which held posts a verb means. */
#include "base/clock.h"
#include "base/config.h"
#include "cli/lists/decide.h"
#include "cli/lists/held_decide.h"

char *held_filter_list, *held_filter_sender, *held_filter_older, *held_filter_newer;

static bool read_age(const char *option, const char *text, int64_t *time, GError **error)
{
    int64_t age;
    if (!text)
        return true;
    if (!config_duration_parse(text, &age)) {
        command_usage(error, "--%s: '%s' is no age; 3d, 12h and 30m are", option, text);
        return false;
    }
    *time = clock_now() - age;
    return true;
}

int held_filter_read(Site *site, HeldFilter *filter, List **list, GError **error)
{
    *filter = (HeldFilter){.sender = held_filter_sender};
    *list = NULL;
    if (!read_age("older", held_filter_older, &filter->before, error) ||
        !read_age("newer", held_filter_newer, &filter->after, error))
        return TOOL_USAGE;
    Store *store = site_store(site, false, error);
    if (!store)
        return TOOL_LATER;
    if (held_filter_list && !(*list = site_list_find(store, held_filter_list, error)))
        return TOOL_LATER;
    filter->list_id = *list ? (*list)->list_id : NULL;
    return TOOL_OK;
}

static bool add_number(const Held *held, void *data)
{
    g_array_append_val((GArray *)data, held->number);
    return true;
}

/* A single number is taken as it is; of a range, those that are held. */
static int add_range(Site *site, const NumberRange *range, GArray *numbers, GError **error)
{
    const HeldFilter filter = {.first = range->first, .last = range->last};
    unsigned before = numbers->len;
    if (range->first == range->last) {
        g_array_append_val(numbers, range->first);
        return TOOL_OK;
    }
    Store *store = site_store(site, false, error);
    return store && held_select(store, &filter, add_number, numbers, error) &&
                   decide_found("held post", range, numbers->len > before, error)
               ? TOOL_OK
               : TOOL_LATER;
}

int held_filter_numbers(char **argv, Site *site, GArray **numbers, GError **error)
{
    NumberRange range;
    int code = TOOL_OK;
    bool chosen = held_filter_list || held_filter_sender || held_filter_older || held_filter_newer;
    *numbers = g_array_new(FALSE, FALSE, sizeof range.first);
    if (!*argv && !chosen)
        return command_usage(error, "say which posts: by their numbers, or with --list, --sender, --older or --newer");
    if (*argv && chosen)
        return command_usage(error, "numbers and the options that choose posts exclude each other");
    for (; *argv && code == TOOL_OK; argv++) {
        if (!decide_range(*argv, "a held post", "listrunner held ls", &range, error))
            return TOOL_USAGE;
        code = add_range(site, &range, *numbers, error);
    }
    if (!chosen)
        return code;
    HeldFilter filter;
    List *found;
    code = held_filter_read(site, &filter, &found, error);
    g_autoptr(List) list = found;
    if (code != TOOL_OK)
        return code;
    return held_select(site_store(site, false, error), &filter, add_number, *numbers, error) ? TOOL_OK : TOOL_LATER;
}
