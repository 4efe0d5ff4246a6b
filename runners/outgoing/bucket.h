/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A token bucket: recipients that may be tried in a time. Rates may be fractions: "0.5/s", "30/m",
 * "1000/h", "20000/d". The bucket holds `burst` tokens at most; it may be overdrawn, once, by a transaction
 * of several recipients, and the next waits until that is paid. Pure: times are passed in (microseconds).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Rate {
    double per_second; /* 0: no limit */
} Rate;

/* "COUNT/UNIT" (s, m, h, d), or "0" and "none" for no limit. FAIL_CONFIG with what would be right. */
bool rate_parse(const char *text, Rate *rate, GError **error);
char *rate_print(Rate rate); /* g_free() */

typedef struct Bucket {
    double tokens;
    int64_t filled; /* when tokens was right */
} Bucket;

/* Full. */
void bucket_init(Bucket *bucket, double burst, int64_t now);

/* Microseconds until something may be sent; 0: now. */
int64_t bucket_wait(Bucket *bucket, Rate rate, double burst, int64_t now);
void bucket_take(Bucket *bucket, double tokens);
