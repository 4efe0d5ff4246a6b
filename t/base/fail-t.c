/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/fail.h"
#include "t/suite.h"

#include <errno.h>

static void test_fail(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(fail(&error, FAIL_NEVER, "entry %d: %s", 7, "bad"));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_assert_cmpstr(error->message, ==, "entry 7: bad");
    g_prefix_error(&error, "in[0]: ");
    g_assert_cmpstr(error->message, ==, "in[0]: entry 7: bad");
}

static void test_errno(void)
{
    g_autoptr(GError) error = NULL;
    errno = ENOSPC;
    g_assert_false(fail_errno(&error, FAIL_LATER, "write %s", "x"));
    g_assert_cmpint(errno, ==, ENOSPC);
    g_assert_error(error, FAIL, FAIL_LATER);
    g_autofree char *expected = g_strdup_printf("write x: %s", g_strerror(ENOSPC));
    g_assert_cmpstr(error->message, ==, expected);
}

/* A percent sign in the system's text or an argument is only text. */
static void test_percent(void)
{
    g_autoptr(GError) error = NULL;
    errno = ENOENT;
    fail_errno(&error, FAIL_MISSING, "open %s", "100%s");
    g_assert_true(g_str_has_prefix(error->message, "open 100%s: "));
    g_assert_error(error, FAIL, FAIL_MISSING);
}

static void test_nobody_asks(void)
{
    errno = EIO;
    g_assert_false(fail(NULL, FAIL_RACE, "x"));
    g_assert_false(fail_errno(NULL, FAIL_RACE, "x"));
    g_assert_cmpint(errno, ==, EIO);
}

static void test_with(void)
{
    g_autoptr(GError) error = NULL, missing = NULL;
    fail(&missing, FAIL_MISSING, "gone");
    g_assert_true(fail_unless(&error, FAIL_MISSING, &missing));
    g_assert_null(error);
    g_assert_false(fail_unless(&error, FAIL_EXISTS, &missing));
    g_assert_error(error, FAIL, FAIL_MISSING);
    g_assert_null(missing);
}

SUITE("fail")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fail/fail", test_fail);
    g_test_add_func("/fail/errno", test_errno);
    g_test_add_func("/fail/percent", test_percent);
    g_test_add_func("/fail/nobody-asks", test_nobody_asks);
    g_test_add_func("/fail/with", test_with);
    return g_test_run();
}
