/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* How many unknown tokens a source brought within the hour of the clock; a source is an address, or a host. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Add one, and say how many there are. */
bool guess_add(Store *store, const char *source, int64_t now, int64_t *guesses, GError **error);
bool guess_count(Store *store, const char *source, int64_t now, int64_t *guesses, GError **error);

/* Forget those of earlier hours. */
bool guess_expire(Store *store, int64_t now, GError **error);
