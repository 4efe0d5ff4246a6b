/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/maintain.h"

#include "base/clock.h"
#include "base/fail.h"
#include "store/posts/pace.h"
#include "store/schema/migrate.h"
#include "store/store_internal.h"

#define EXPIRE_ROWS 10000 /* a transaction, so that others are not kept waiting */

void store_report_clear(StoreReport *report)
{
    g_clear_pointer(&report->faults, g_ptr_array_unref);
}

bool store_check(const char *driver, const char *where, bool deep, StoreReport *report, GError **error)
{
    *report = (StoreReport){.faults = g_ptr_array_new_with_free_func(g_free)};
    const StoreDriver *found = store_driver_find(driver, error);
    g_autofree char *shown = found ? found->shown(where, error) : NULL;
    void *connection = shown ? found->open(where, false, error) : NULL;
    if (!connection)
        return false;
    bool read = migrate_version(found, connection, &report->schema, &report->newest, error);
    if (!read)
        g_prefix_error(error, "%s: ", shown);
    else if (report->schema == 0)
        read = store_fail_missing(shown, "is empty", error);
    report->usable = read && migrate_usable(found, connection, report->schema);
    if (read && deep)
        read = found->verify(connection, report->faults, error);
    found->close(connection);
    return read;
}

bool store_pin(Store *store, GError **error)
{
    const StoreDriver *driver = store_driver(store);
    return driver->pin ? driver->pin(store_connection(store), error)
                       : fail(error, FAIL_NEVER, "%s keeps no moment for a copy", driver->name);
}

bool store_backup(Store *store, const char *to, GError **error)
{
    return store_driver(store)->backup(store_connection(store), to, error);
}

bool store_size(Store *store, int64_t *bytes, GError **error)
{
    return store_driver(store)->size(store_connection(store), bytes, error);
}

int64_t store_newest_schema(void)
{
    int64_t newest = 0;
    for (const Migration *one = migrations; one->number != 0; one++)
        newest = one->number;
    return newest;
}

bool store_connections(Store *store, int64_t *allowed, GError **error)
{
    const StoreDriver *driver = store_driver(store);
    *allowed = INT64_MAX;
    return !driver->connections || driver->connections(store_connection(store), allowed, error);
}

bool store_compact(Store *store, GError **error)
{
    return store_driver(store)->compact(store_connection(store), error);
}

bool store_give_back(Store *store, StoreProgress *progress, void *data, GError **error)
{
    for (bool more = true; more;) {
        if (!store_driver(store)->give_back(store_connection(store), &more, error))
            return false;
        progress(data);
    }
    return true;
}

/* ---- old rows ---- */

bool store_expire_rows(Store *store, const char *find, const char *remove, int64_t before, GError **error)
{
    const int64_t none = INT64_MIN;
    int64_t last = 0;
    while (last != none) {
        last = none; /* without a row at that place, this portion is the last one */
        if (!STORE_WRITE_PEOPLE(store, error,
                                query_number(store, error, &last, find, INTEGER(before), INTEGER(EXPIRE_ROWS - 1)) &&
                                    query_run(store, error, NULL, remove, INTEGER(last == none ? before - 1 : last))))
            return false;
    }
    return true;
}

bool store_expire(Store *store, int64_t age_us, GError **error)
{
    int64_t before = clock_now() - age_us;
    return STORE_EXPIRE(store, "effect", "recorded_at", before, error) &&
           STORE_EXPIRE(store, "message_id", "seen_at", before, error) &&
           STORE_EXPIRE(store, "handed", "handed_at", before, error) && pace_expire(store, error);
}
