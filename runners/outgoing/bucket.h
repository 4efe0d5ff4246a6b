/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep to a rate of recipients a second, by a token bucket: one token is one recipient that may be tried. Rates may be
 * fractions: "0.5/s", "30/m", "1000/h", "20000/d". The bucket holds `burst` tokens at most (at least 1). A transaction
 * may go when one token is there, and may take more than there are; the next one waits until the bucket has a token
 * again. The functions look at no clock: times are passed in (microseconds).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Rate {
    double per_second; /* 0: no limit */
} Rate;

/* Read "COUNT/UNIT" (s, m, h, d), or "0" or "none" for no limit. FAIL_CONFIG: it is none of these; the message says
 * what is allowed. */
bool rate_parse(const char *text, Rate *rate, GError **error);
/* Write a rate as rate_parse() reads it, rounded; g_free(). */
char *rate_print(Rate rate);

typedef struct Bucket {
    double tokens;
    int64_t filled; /* when tokens was right */
} Bucket;

/* Make a full bucket. */
void bucket_init(Bucket *bucket, double burst, int64_t now);

/* Fill the bucket for the time that has passed, and return the microseconds until something may be sent; 0: now. */
int64_t bucket_wait(Bucket *bucket, Rate rate, double burst, int64_t now);
/* Take tokens for a transaction that goes out; their number may become negative. */
void bucket_take(Bucket *bucket, double tokens);
