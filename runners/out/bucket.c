/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/out/bucket.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"

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

bool rate_parse(const char *text, Rate *rate, GError **error)
{
    rate->per_second = 0;
    if (strcmp(text, "0") == 0 || strcmp(text, "none") == 0)
        return true;
    char *end = NULL;
    double count = g_ascii_strtod(text, &end);
    double seconds = *end == '/' ? unit_seconds(end + 1) : 0;
    rate->per_second = seconds > 0 ? count / seconds : 0;
    if (g_ascii_isdigit(*text) && isfinite(count) && rate->per_second > 0 && rate->per_second <= RATE_MAX)
        return true;
    return fail(error, FAIL_CONFIG, "found \"%s\"; allowed is a count and a unit such as 0.5/s, 30/m, 1000/h or "
                "20000/d, or 0 for no limit", text);
}

/* In the unit that makes a number of at least 1, if there is one. */
char *rate_print(Rate rate)
{
    if (rate.per_second <= 0)
        return g_strdup("none");
    size_t unit = 0;
    while (unit + 1 < G_N_ELEMENTS(units) && rate.per_second * units[unit].seconds < 1 - 1e-9)
        unit++;
    return g_strdup_printf("%.4g/%s", rate.per_second * units[unit].seconds, units[unit].names[0]);
}

void bucket_init(Bucket *bucket, double burst, int64_t now)
{
    *bucket = (Bucket){MAX(burst, 1), now};
}

int64_t bucket_wait(Bucket *bucket, Rate rate, double burst, int64_t now)
{
    double most = MAX(burst, 1);
    if (rate.per_second <= 0) { /* full when there is a limit again */
        *bucket = (Bucket){most, now};
        return 0;
    }
    double passed = (double)MAX(now - bucket->filled, 0) / CLOCK_SECOND;
    bucket->tokens = MIN(bucket->tokens + passed * rate.per_second, most);
    bucket->filled = now;
    double missing = 1 - bucket->tokens;
    if (missing <= 1e-9)
        return 0;
    return (int64_t)ceil(missing / rate.per_second * CLOCK_SECOND);
}

void bucket_take(Bucket *bucket, double tokens)
{
    bucket->tokens -= tokens;
}
