/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/guess.h"

#include "base/clock.h"
#include "store/store_internal.h"

#define HOUR (3600 * CLOCK_SECOND)

static bool add(Store *store, const char *source, int64_t now, int64_t *guesses, GError **error)
{
    g_autofree char *lower = g_utf8_strdown(source, -1);
    g_autoptr(Query) query = query_open(store, error,
                                        "INSERT INTO guess (hour, source, guesses) VALUES ($1, $2, 1) ON CONFLICT "
                                        "(hour, source) DO UPDATE SET guesses = guess.guesses + 1 RETURNING guesses",
                                        INTEGER(now / HOUR), TEXT(lower));
    if (!query || query_step(query, error) != STEP_ROW)
        return false;
    *guesses = query_integer(query, 0);
    return true;
}

bool guess_add(Store *store, const char *source, int64_t now, int64_t *guesses, GError **error)
{
    Write write;
    return write_begin(store, &write, error) &&
           write_end(store, &write, add(store, source, now, guesses, error), error);
}

bool guess_count(Store *store, const char *source, int64_t now, int64_t *guesses, GError **error)
{
    g_autofree char *lower = g_utf8_strdown(source, -1);
    g_autoptr(Query) query =
        query_open(store, error, "SELECT guesses FROM guess WHERE hour = $1 AND source = $2", INTEGER(now / HOUR),
                   TEXT(lower));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    *guesses = step == STEP_ROW ? query_integer(query, 0) : 0;
    return step != STEP_FAILED;
}

bool guess_expire(Store *store, int64_t now, GError **error)
{
    return query_run(store, error, NULL, "DELETE FROM guess WHERE hour < $1", INTEGER(now / HOUR));
}
