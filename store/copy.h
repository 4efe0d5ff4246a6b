/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Moving a site from one database to another, of whatever driver.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* The tables that are copied: all that the schema makes except those that a driver keeps for itself (schema_migration,
 * last_key), each behind those that it refers to. NULL ends it. */
extern const char *const store_copy_tables[];

/* Told of each table that was copied, and then of each that was compared; rows is how many there are. */
typedef void StoreCopyProgress(void *data, const char *table, int64_t rows, bool compared);

/* Copy all rows from one database to another, which must have none yet (FAIL_EXISTS), then read both and compare them
 * table by table. What is copied is one moment: writers to `from` wait until the end. One transaction fills `to`, so
 * that a copy that fails leaves nothing in it. FAIL_NEVER: a table differs after the copy; the message names it. */
bool store_copy(Store *from, Store *to, StoreCopyProgress *progress, void *data, GError **error);
