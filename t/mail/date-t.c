/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/date.h"
#include "t/suite.h"

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
        {"Thu Jan  1 00:00:00 1970", 0, 0},
        {"Tue, 3 (of (this)) Nov 2026 12.31.30 +0100", 1793705490, 60},
        {"Tue, 3 Nov 2026 12:31:30.123 +0100", 1793705490, 60},
        {"2026-11-03 10:11:12,5 +02:00", 1793693472, 120},
        {"2026-11-03T10:11:12Z", 1793700672, 0},
        {"2026/11/3 10:11", 1793700660, 0},
        {"27.8.2023, 10:00 Uhr", 1693130400, 0},
        {"8/27/2023 12:01:02 AM", 1693094462, 0},
        {"27/8/2023 00:01:02", 1693094462, 0},
        {"3-Nov-2026 10:11:12 -0700", 1793725872, -420},
        {"Tue, 03 Nov 126 10:11:12 EST", 1793718672, -300},
        {"Tue, 3 Nov 2026 10:11:12 MET", 1793697072, 60},
        {"Tue, 3 Nov 2026 10:11:12 mesz", 1793693472, 120},
        {"Tue, 3 Nov 2026 10:11:12 JST", 1793668272, 540},
        {"Tue, 3 Nov 2026 10:11:12 GMT+2", 1793693472, 120},
        {"Tue, 3 Nov 2026 10:11:12 GMT+0200 (MESZ)", 1793693472, 120},
        {"Tue, 3 Nov 2026 10:11:12 XYZ", 1793700672, 0},
        {"Tue, 3 Nov 2026 10:11:12 +9999", 1793700672, 0},
        {"Tuesday, November 3, 2026 3:05 PM", 1793718300, 0},
        {"Tuesday, November 3, 2026 12:05 a.m.", 1793664300, 0},
        {"Di, 3. M\303\244rz 2026 10:11:12 +0100", 1772529072, 60},
        {"mar, 3 dic 2026 10:11:12 +0100", 1796289072, 60},
        {"lun. 3 ao\303\273t 2026 10:11:12", 1785751872, 0},
        {"Tue Mar  3 10:11:12 PST 2026", 1772561472, -480},
        {"Sat, 31 Dec 2016 23:59:60 +0000", 1483228799, 0}, /* a leap second */
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
                                         "Tue, 3 Nov 2026 10:61:12 -0700",
                                         "Tue, 3 2026 10:11:12 -0700",
                                         "2026-13-01",
                                         "((((((",
                                         "Tue, 3 Nov 1907 10:11:12 +0000"};
    for (size_t at = 0; at < G_N_ELEMENTS(values); at++) {
        int64_t seconds = 7;
        int zone = 7;
        g_assert_false(date_parse(values[at], &seconds, &zone));
        g_assert_cmpint(seconds, ==, 7);
        g_assert_cmpint(zone, ==, 7);
    }
}

SUITE("date")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/date/read", test_read);
    g_test_add_func("/date/none", test_none);
    return g_test_run();
}
