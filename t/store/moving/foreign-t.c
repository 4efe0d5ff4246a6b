/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* URLs of databases of other programs; the rows of such databases are read in t/e2e. */
#include "store/moving/foreign.h"

#include <string.h>

#include "base/fail.h"
#include "t/suite.h"

/* Each has the password "12se34cret", with a character that a URL takes apart. */
static const char *const broken[] = {
    "mysql://mailman:12se/34cret@db.example.com/mailman",
    "mysql://mailman:12se#34cret@db.example.com/mailman",
    "mysql://mailman:12se?34cret@db.example.com/mailman",
    "mysql://mailman:12/se34cret@db.example.com/mailman",
    "mysql://mailman:12se@34cret@db.example.com/mailman",
    "mysql://mailman:121212121212/se34cret@db.example.com/mailman",
    "mysql://mailman:12se%zz34cret@db.example.com/mailman",
    "mysql://mailman:12/se34cret@db.example.com/mailman?ssl=1",
};

static void test_broken_url_keeps_its_password(void)
{
    for (size_t at = 0; at < G_N_ELEMENTS(broken); at++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Foreign) foreign = foreign_open(broken[at], &error);
        g_assert_null(foreign);
        g_assert_error(error, FAIL, FAIL_CONFIG);
        g_assert_null(strstr(error->message, "12"));
        g_assert_null(strstr(error->message, "se34"));
        g_assert_null(strstr(error->message, "cret"));
        g_assert_nonnull(strstr(error->message, "%40 for @"));
    }
}

static void test_unknown_url_keeps_its_password(void)
{
    static const char *const unknown[] = {"postgresql+psycopg2://mailman:secret@db.example.com/mailman",
                                          "mysqlx://mailman:secret@db.example.com/mailman", "sqlite:///secret"};
    for (size_t at = 0; at < G_N_ELEMENTS(unknown); at++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Foreign) foreign = foreign_open(unknown[at], &error);
        g_assert_null(foreign);
        g_assert_error(error, FAIL, FAIL_CONFIG);
        g_assert_null(strstr(error->message, "secret"));
        g_assert_nonnull(strstr(error->message, "right is the path of a file"));
    }
}

SUITE("foreign")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/foreign/a broken URL keeps its password", test_broken_url_keeps_its_password);
    g_test_add_func("/foreign/an unknown URL keeps its password", test_unknown_url_keeps_its_password);
    return g_test_run();
}
