/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/date.h"

#include <glib.h>

static void test_read(void)
{
    static const struct {
        const char *value;
        int64_t seconds;
        int zone;
    } dates[] = {
        {"Tue, 3 Nov 2026 10:11:12 -0700", 1793725872, -420},
        {"3 Nov 2026 10:11 +0530 (IST)", 1793680860, 330},
        {"Tue, 3 Nov 2026 10:11:12 -0330", 1793713272, -210},
        {"Tue, 03 Nov 26 10:11:12 EST", 1793718672, -300},
        {"Tue, 3 Nov 2026 10:11:12 GMT", 1793700672, 0},
        {"Thu Jan  1 10:00:00 1998", 883648800, 0}, /* as of asctime() */
    };
    for (size_t at = 0; at < G_N_ELEMENTS(dates); at++) {
        int64_t seconds = -1;
        int zone = -1;
        g_assert_true(date_parse(dates[at].value, &seconds, &zone));
        g_assert_cmpint(seconds, ==, dates[at].seconds);
        g_assert_cmpint(zone, ==, dates[at].zone);
    }
}

static void test_none(void)
{
    static const char *const values[] = {"",
                                         "today",
                                         "12",
                                         "Tue, 99 Nov 2026 10:00:00 +0000",
                                         "Tue, 31 Feb 2026 10:11:12 GMT",
                                         "Tue, 3 Nov 99999 10:00:00 +0000",
                                         "Tue, 3 Nov 2026 25:11:12 -0700",
                                         "Tue, 3 Nov 1907 10:11:12 +0000"};
    for (size_t at = 0; at < G_N_ELEMENTS(values); at++) {
        int64_t seconds = 7;
        int zone = 7;
        g_assert_false(date_parse(values[at], &seconds, &zone));
        g_assert_cmpint(seconds, ==, 7);
        g_assert_cmpint(zone, ==, 7);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/date/read", test_read);
    g_test_add_func("/date/none", test_none);
    return g_test_run();
}
