/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/lists/decide.h"

#include <stdio.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/plain.h"

bool decide_number(const char *text, const char *what, const char *lister, int64_t *number, GError **error)
{
    if (g_ascii_string_to_signed(text, 10, 1, INT64_MAX, number, NULL))
        return true;
    g_autofree char *shown = g_utf8_make_valid(text, -1);
    command_usage(error, "'%s' is no number of %s; %s shows them", shown, what, lister);
    return false;
}

bool decide_range(const char *text, const char *what, const char *lister, NumberRange *range, GError **error)
{
    size_t length = number_range_read(text, '\0', range);
    if (length > 0 && !text[length] && range->first > 0)
        return true;
    g_autofree char *shown = g_utf8_make_valid(text, -1);
    command_usage(error, "'%s' is no number of %s, nor a range as 12-15; %s shows them", shown, what, lister);
    return false;
}

bool decide_found(const char *what, const NumberRange *range, bool found, GError **error)
{
    return found || fail(error, FAIL_MISSING, "there is no %s with a number from %" G_GINT64_FORMAT " to %"
                         G_GINT64_FORMAT, what, range->first, range->last);
}

int decide_each(WorkPlace *place, const GArray *numbers, const char *tool, const char *past, DecideOne *one,
                void *data)
{
    int worst = TOOL_OK;
    for (unsigned at = 0; at < numbers->len; at++) {
        g_autoptr(GError) refusal = NULL;
        int64_t number = g_array_index(numbers, int64_t, at);
        g_autoptr(Work) work = work_place_unit(place, &refusal);
        g_autofree char *text = work ? one(work, number, data, &refusal) : NULL;
        if (text && work_commit(work, place->spool, &refusal)) {
            printf("%" G_GINT64_FORMAT " %s%s\n", number, past, text);
            continue;
        }
        plain_complain("listrunner %s: %" G_GINT64_FORMAT " is not %s: %s", tool, number, past, refusal->message);
        worst = MAX(worst, command_exit_code(refusal));
    }
    return worst;
}
