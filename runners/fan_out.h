/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The hosts that deliver a large post ([host] fan_out_over). Each that lives, is not drained and has a door gets a part
 * of the recipients; the parts are as what the hosts got done lately, and equal until that is known of all. No part is
 * less than an eighth of the greatest, so that a host which fell behind once can show that it is well again.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "store/store.h"

typedef struct FanOutPart {
    char *host;    /* NULL: this one */
    double pace;   /* what it gets done, compared with others; 0: not known */
    int64_t count; /* recipients; those of all parts together are all */
} FanOutPart;

/* Divide count recipients: of FanOutPart, this host's first. One part alone, of this host, when the post is not so
 * large or when there is no other host. FAIL_LATER. */
GArray *fan_out_plan(const Config *config, Store *store, int64_t count, GError **error);

/* Set the counts of the parts from their paces. */
void fan_out_divide(int64_t count, FanOutPart *parts, unsigned hosts);
