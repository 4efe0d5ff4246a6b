/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/site/canary.h"

#include "lists/site/round_trip.h"

#define INTERVALS 3

bool canary_is_list(const char *list_id)
{
    return list_id && (g_str_has_prefix(list_id, ROUND_TRIP_CANARY ".") ||
                       g_str_has_prefix(list_id, ROUND_TRIP_CANARY ROUND_TRIP_BACK "."));
}

int64_t canary_lifetime(const Config *config)
{
    return MAX(INTERVALS * config_duration(config, "watch", "interval"), config_duration(config, "watch", "patience"));
}
