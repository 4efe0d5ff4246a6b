/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read the Date field (RFC 5322, 3.3, with its obsolete forms) as forgivingly as GMime does. */
#include <stdbool.h>
#include <stdint.h>

/* Read the value of a Date field: seconds since 1970 UTC, and the minutes by which its zone is ahead of UTC, as written
 * (-0700 is -420; an unknown zone is 0). False, and neither is set: nobody can read it, it is before 1970 or after
 * 9999, or its zone is more than a day from UTC. */
bool date_parse(const char *value, int64_t *seconds, int *zone);
