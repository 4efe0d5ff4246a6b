/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Divide the recipients of a large post among the hosts of the site ([host] fan_out_over). Each host that lives, is not
 * drained and takes entries from others gets a part. The parts are in proportion to how much mail each host delivered
 * lately, and equal until that is known of all. No part is less than an eighth of the greatest, so that a host which
 * fell behind once can show that it is well again.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "store/store.h"

typedef struct FanOutPart {
    char *host;    /* NULL: this one */
    double pace;   /* how much it delivers, compared with the other hosts; 0: not known */
    int64_t count; /* recipients of this part; the counts of all parts add up to the whole */
} FanOutPart;

/* Return the parts (of FanOutPart, g_array_unref()) for count recipients; the first is this host's. It is the only one
 * when the post is not so large or there is no other host. NULL: the store failed. */
GArray *fan_out_plan(const Config *config, Store *store, int64_t count, GError **error);

/* Set the counts of the parts from their paces. */
void fan_out_divide(int64_t count, FanOutPart *parts, unsigned hosts);
