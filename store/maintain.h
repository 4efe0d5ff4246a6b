/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Look after a database as a whole: check that it is sound, copy it, tell its size, and give unused room back.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct StoreReport {
    int64_t schema, newest; /* the schema that it has, and the newest that this program knows */
    bool usable;            /* by this program, also where its schema is a newer one */
    GPtrArray *faults;      /* of char *, owned: sentences; empty when it is sound */
} StoreReport;

void store_report_clear(StoreReport *report);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StoreReport, store_report_clear)

/* Read the schema's number and, with deep, all of the database (minutes for a large one). Changes nothing: an older
 * schema stays as it is. True with report->faults where it is damaged. False when it cannot be opened or read at all,
 * with the codes of store_open(). The caller clears *report in either case. */
bool store_check(const char *driver, const char *where, bool deep, StoreReport *report, GError **error);

/* Make the next store_backup() copy the database as it is now, whatever others write meanwhile. Until that call nothing
 * else may be done with the store. FAIL_NEVER: this driver cannot do so. */
bool store_pin(Store *store, GError **error);

/* Write a copy of this moment to the file `to`, and make it durable. Runners may be at work meanwhile. A copy that
 * fails is removed. FAIL_EXISTS: there is such a file already. */
bool store_backup(Store *store, const char *to, GError **error);

/* Set *allowed to how many connections the server accepts at once from the role of this connection, over all hosts;
 * INT64_MAX where the database has no server. Call it outside of transactions. */
bool store_connections(Store *store, int64_t *allowed, GError **error);

/* Return the number of the newest schema that this program knows. */
int64_t store_newest_schema(void);

/* Set *bytes to the room that the database takes. */
bool store_size(Store *store, int64_t *bytes, GError **error);

/* Give room of what was removed back to the file system, in short transactions, with progress(data) after each, until
 * little is unused. A file that another program made gives none back before store_compact(). */
bool store_give_back(Store *store, StoreProgress *progress, void *data, GError **error);

/* Give all the room of what was removed back to the file system. Writers wait meanwhile, so some runners may
 * fail with FAIL_LATER on a large database and try again. */
bool store_compact(Store *store, GError **error);
