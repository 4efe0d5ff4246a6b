/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/bucket.h"

#include <math.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/fail.h"

static const struct {
    const char *name;
    double seconds;
} units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

bool rate_parse(const char *text, Rate *rate, GError **error)
{
    if (config_rate_parse(text, &rate->per_second))
        return true;
    rate->per_second = 0;
    return fail(error, FAIL_CONFIG, "found \"%s\"; allowed is " CONFIG_RATE_ALLOWED, text);
}

/* In the unit that makes a number of at least 1, if there is one. */
char *rate_print(Rate rate)
{
    if (rate.per_second <= 0)
        return g_strdup("none");
    size_t unit = 0;
    while (unit + 1 < G_N_ELEMENTS(units) && rate.per_second * units[unit].seconds < 1 - 1e-9)
        unit++;
    return g_strdup_printf("%.4g/%s", rate.per_second * units[unit].seconds, units[unit].name);
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
