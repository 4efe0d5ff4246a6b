/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/canary_shard.h"

#include "lists/round_trip.h"

char *canary_shard(const char *list_id, const char *message_id, const char *queue)
{
    bool ours = list_id && (g_str_has_prefix(list_id, ROUND_TRIP_CANARY ".") ||
                            g_str_has_prefix(list_id, ROUND_TRIP_CANARY ROUND_TRIP_BACK "."));
    return ours && message_id ? g_strconcat(queue, " ", message_id, NULL) : NULL;
}
