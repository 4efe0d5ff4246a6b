/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the date of a message: RFC 5322, 3.3, with its obsolete forms, and what mail programs wrote instead: ISO 8601,
 * asctime(), numeric dates, names of months in eight languages, names of zones, "10.11.12", "3:05 PM", "GMT+2". A word
 * that nobody knows says nothing.
 */
#include <stdbool.h>
#include <stdint.h>

/* Read the value of a Date field: seconds since 1970 UTC, and the minutes by which its zone is ahead of UTC, as written
 * (-0700 is -420; an unknown zone is 0). False, and neither is set: day, month or year is missing, there is no such
 * day or time, or it is before 1970 or after 9999. */
bool date_parse(const char *value, int64_t *seconds, int *zone);
