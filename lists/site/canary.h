/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Know canary mails on their way: test mails that a host sends to itself through its MTA (lists/site/round_trip.h).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

/* Is list_id one of those under which canary mails go out or come back? NULL: false. */
bool canary_is_list(const char *list_id);

/* Return for how long the delivery of a canary mail is tried, us. It is short, since newer mails tell more. */
int64_t canary_lifetime(const Config *config);
