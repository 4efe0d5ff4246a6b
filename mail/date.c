/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/date.h"

#include <gmime/gmime.h>
#include <string.h>

#define VALUE_MAX 200 /* bytes; what stands behind is a comment at best */

bool date_parse(const char *value, int64_t *seconds, int *zone)
{
    g_autofree char *brief = g_strndup(value, MIN(strlen(value), VALUE_MAX));
    g_autoptr(GDateTime) date = *brief ? g_mime_utils_header_decode_date(brief) : NULL;
    if (!date)
        return false;
    int64_t time = g_date_time_to_unix(date), minutes = g_date_time_get_utc_offset(date) / G_TIME_SPAN_MINUTE;
    if (time < 0 || g_date_time_get_year(date) > 9999 || minutes < -24 * 60 || minutes > 24 * 60)
        return false;
    *seconds = time;
    *zone = (int)minutes;
    return true;
}
