/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the site's secret, with which addresses and links are signed (mail/bounce/verp.h). It is in the database, so
 * that all hosts of a site have the same secret and a backup holds it; nothing prints it. It is made when it is first
 * asked for. A new secret may be made at any time: the newest signs, and older ones are still read until they are
 * dropped.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

#define SECRET_OCTETS 32

/* Return all secrets, of GBytes, the newest first; freed with the array. Where there is none, the first is made. */
GPtrArray *secret_all(Store *store, GError **error);

/* Set *replaced_at to when the newest secret took the place of the one before it (microseconds since 1970); 0: there is
 * only one. */
bool secret_replaced_at(Store *store, int64_t *replaced_at, GError **error);

/* Make a new secret, and drop those that were replaced longer ago than keep_us (microseconds). */
bool secret_rotate(Store *store, int64_t keep_us, GError **error);
