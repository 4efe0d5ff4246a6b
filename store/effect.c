/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Records of the work of entries (store.h). */
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "store/store_internal.h"

static const char effect_sql[] = "SELECT number FROM effect WHERE entry = $1";

void store_find_effect_soon(Store *store, const char *entry)
{
    query_soon(store, effect_sql, TEXT(entry));
}

bool store_find_effect(Store *store, const char *entry, bool *before, int64_t *number, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, effect_sql, TEXT(entry));
    Step step = query_step(query, error);
    *before = step == STEP_ROW;
    *number = *before ? query_integer(query, 0) : 0;
    return step != STEP_FAILED;
}

bool store_record_effect(Store *store, const char *entry, int64_t number, GError **error)
{
    if (!store_is_transaction_open(store))
        log_panic("store_record_effect outside a transaction: it would record effects that are not there");
    g_autoptr(GError) fault = NULL;
    if (query_later(store, &fault, "INSERT INTO effect (entry, number, recorded_at) VALUES ($1, $2, $3)", TEXT(entry),
                    INTEGER(number), INTEGER(clock_now())))
        return true;
    if (g_error_matches(fault, FAIL, FAIL_EXISTS))
        return fail(error, FAIL_LATER, "the effects of %s were recorded already", entry);
    return fail_with(error, &fault);
}

/* Entries in one statement, and its rows: a statement of fewer repeats the last one. */
#define TOGETHER 20
#define ROW(n) "($" #n ", 0, $21)"
static const char several_sql[] =
    "INSERT INTO effect (entry, number, recorded_at) VALUES "
    ROW(1) ", " ROW(2) ", " ROW(3) ", " ROW(4) ", " ROW(5) ", " ROW(6) ", " ROW(7) ", "
    ROW(8) ", " ROW(9) ", " ROW(10) ", " ROW(11) ", " ROW(12) ", " ROW(13) ", " ROW(14) ", "
    ROW(15) ", " ROW(16) ", " ROW(17) ", " ROW(18) ", " ROW(19) ", " ROW(20)
    " ON CONFLICT (entry) DO NOTHING";

bool store_record_effects(Store *store, const GPtrArray *entries, int64_t *added, GError **error)
{
    *added = 0;
    for (guint at = 0; at < entries->len; at += TOGETHER) {
        Value values[TOGETHER + 1];
        int64_t changed = 0;
        for (guint row = 0; row < TOGETHER; row++)
            values[row] = TEXT(entries->pdata[MIN(at + row, entries->len - 1)]);
        values[TOGETHER] = INTEGER(clock_now());
        if (!query_all(store, error, &changed, several_sql, values, G_N_ELEMENTS(values)))
            return false;
        *added += changed;
    }
    return true;
}

bool store_add_effect(Store *store, const char *entry, int64_t number, int64_t *sum, GError **error)
{
    return query_number(store, error, sum,
                        "INSERT INTO effect (entry, number, recorded_at) VALUES ($1, $2, $3) "
                        "ON CONFLICT (entry) DO UPDATE SET number = effect.number + excluded.number "
                        "RETURNING number",
                        TEXT(entry), INTEGER(number), INTEGER(clock_now()));
}
