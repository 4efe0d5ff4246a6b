/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * For tests of what only a server does: is there one, and ask it.
 */
#include "store/store_internal.h"
#include "t/store/fixture.h"

#define LIST "test.example.com"

/* Return whether LISTRUNNER_STORE is postgresql; else skip the test. */
static inline bool is_postgresql(void)
{
    bool is = g_str_equal(fixture_driver(), "postgresql");
    if (!is)
        g_test_skip("it is about PostgreSQL");
    return is;
}

/* The answer of a question that has one. */
static inline int64_t number(Store *store, const char *sql)
{
    GError *error = NULL;
    g_autoptr(Query) query = query_start(store, &error, sql, NULL, 0);
    g_assert_no_error(error);
    Step step = query_step(query, &error);
    g_assert_no_error(error);
    g_assert_cmpint(step, ==, STEP_ROW);
    return query_integer(query, 0);
}
