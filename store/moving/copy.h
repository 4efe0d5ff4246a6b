/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Copy a site's whole database into another one, which may have another driver, and check the copy.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* The tables that are copied: all that the schema makes except those that a driver keeps for itself (schema_migration,
 * last_key), each behind those that it refers to. NULL ends it. */
extern const char *const store_copy_tables[];

/* Called once for each table when it was copied (compared is false), and once more when it was compared (compared is
 * true). rows is how many rows the table has. */
typedef void StoreCopyProgress(void *data, const char *table, int64_t rows, bool compared);

/* Copy all rows from one database to another, which must have none yet (FAIL_EXISTS), then read both and compare them
 * table by table. What is copied is one moment: writers to `from` wait until the end. One transaction fills `to`, so
 * that a copy that fails leaves nothing in it. FAIL_NEVER: a table differs after the copy; the message names it. */
bool store_copy(Store *from, Store *to, StoreCopyProgress *progress, void *data, GError **error);
