/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The longer forms of values: rates and feedback. */
#include "base/config_internal.h"

#include <math.h>
#include <string.h>

#define RATE_MAX 1e6 /* a second */

static const struct {
    const char *names[3];
    double seconds;
} units[] = {
    {{"s", "sec", "second"}, 1},
    {{"m", "min", "minute"}, 60},
    {{"h", "hour", "hour"}, 3600},
    {{"d", "day", "day"}, 86400},
};

static double unit_seconds(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        for (size_t j = 0; j < G_N_ELEMENTS(units[i].names); j++)
            if (strcmp(name, units[i].names[j]) == 0)
                return units[i].seconds;
    return 0;
}

bool config_rate_parse(const char *text, double *per_second)
{
    *per_second = 0;
    if (strcmp(text, "0") == 0 || strcmp(text, "none") == 0)
        return true;
    char *end = NULL;
    double count = g_ascii_strtod(text, &end);
    double seconds = *end == '/' ? unit_seconds(end + 1) : 0;
    *per_second = seconds > 0 ? count / seconds : 0;
    return g_ascii_isdigit(*text) && isfinite(count) && *per_second > 0 && *per_second <= RATE_MAX;
}

static bool number(const char *text, double *value)
{
    char *end = NULL;
    *value = g_ascii_strtod(text, &end);
    return g_ascii_isdigit(*text) && *end == '\0' && isfinite(*value);
}

bool config_feedback_parse(const char *text, double *value, const char **divisor)
{
    static const char *const words[] = {"concurrency", "sqrt_concurrency"};
    g_auto(GStrv) parts = g_strsplit(text, "/", 2);
    const char *below = parts[0] ? parts[1] : NULL;
    double by = 1;
    *value = 0;
    *divisor = NULL;
    bool good = parts[0] && number(g_strstrip(parts[0]), value);
    for (size_t i = 0; below && i < G_N_ELEMENTS(words); i++)
        if (strcmp(g_strstrip(parts[1]), words[i]) == 0)
            *divisor = words[i];
    if (below && !*divisor)
        good = good && number(below, &by) && by > 0;
    *value /= by;
    return good && *value >= 0 && *value <= 1;
}
