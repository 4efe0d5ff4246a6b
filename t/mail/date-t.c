/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/date.h"

#include <glib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "t/suite.h"

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

#define NOW (INT64_C(1798000000) * CLOCK_SECOND)   /* 2026-12-23T04:26:40Z */
#define EIGHT (INT64_C(1798095600) * CLOCK_SECOND) /* 2026-12-24T07:00:00Z */

static void assert_read(const char *text, int64_t expected)
{
    g_autoptr(GError) error = NULL;
    int64_t due = -1;
    g_assert_true(send_at_read(text, NOW, &due, &error));
    g_assert_cmpint(due, ==, expected);
}

static void assert_refused(const char *text, const char *why)
{
    g_autoptr(GError) error = NULL;
    int64_t due;
    g_assert_false(send_at_read(text, NOW, &due, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_assert_nonnull(strstr(error->message, why));
}

static void test_forms(void)
{
    static const char *const same[] = {"2026-12-24 08:00 +0100",     "2026-12-24T08:00:00+01:00",
                                       "2026-12-24T07:00:00Z",       "2026-12-24 07:00 UTC",
                                       " 2026-12-24  12:30 +05:30 ", "Thu, 24 Dec 2026 08:00:00 +0100",
                                       "24 dec 2026 07:00 GMT",      "Wed, 23 Dec 2026 23:00 -0800 (PST)",
                                       "2026-12-24t07:00:00Z",       "2026-12-24t07:00:00z",
                                       "2026-12-24T07:00:00.75Z",    "2026-12-24T04:00:00.1-03:00"};
    for (size_t at = 0; at < G_N_ELEMENTS(same); at++)
        assert_read(same[at], EIGHT);
}

static void test_not_ahead(void)
{
    static const struct {
        const char *text;
        int64_t due;
        bool over;
    } times[] = {{"now", 0, false},
                 {"2026-12-23T04:26:40Z", NOW, true}, /* this second */
                 {"2026-12-23T04:26:41Z", NOW + CLOCK_SECOND, false},
                 {" 1999-01-01 00:00 Z ", INT64_C(915148800) * CLOCK_SECOND, true},
                 {"1969-12-31 00:00 Z", CLOCK_SECOND, true}};
    for (size_t at = 0; at < G_N_ELEMENTS(times); at++) {
        g_autoptr(GError) error = NULL;
        int64_t due = -1;
        assert_read(times[at].text, times[at].due);
        g_assert_cmpint(send_at_read_ahead(times[at].text, NOW, &due, &error), !=, times[at].over);
        g_assert_cmpint(due, ==, times[at].due);
        if (!times[at].over)
            continue;
        g_assert_error(error, FAIL, FAIL_NEVER);
        g_assert_nonnull(strstr(error->message, "is over; the word now"));
    }
    g_autoptr(GError) error = NULL;
    int64_t due;
    g_assert_false(send_at_read_ahead("soon", NOW, &due, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
}

static void test_refused(void)
{
    static const char *const none[] = {"",
                                       "tomorrow",
                                       "2026-12-24 08:00",
                                       "24 Dec 2026 08:00",
                                       "2026-02-30 08:00 Z",
                                       "2026-12-24 25:00 Z",
                                       "24 Foo 2026 08:00 +0100",
                                       "2026-12-24 08:00 +0100 x",
                                       "\xff",
                                       "24 Dec 26 08:00 +0100"};
    for (size_t at = 0; at < G_N_ELEMENTS(none); at++)
        assert_refused(none[at], "is no time with its zone");
    assert_read("2027-12-24 04:26:40 Z", NOW + 366 * INT64_C(86400) * CLOCK_SECOND);
    assert_refused("2027-12-24 04:26:41 Z", "more than a year ahead");
    g_autofree char *endless = g_strnfill(100000, '9');
    assert_refused(endless, "is no time");
}

static void test_taken(void)
{
    static const char text[] = "x-listrunner-SEND-at: 2026-12-24\r\n 08:00 +0100\r\nSubject: x\r\n"
                               "X-Listrunner-Send-At: now\r\n\r\nX-Listrunner-Send-At: body\r\n";
    g_autoptr(GBytes) octets = g_bytes_new_static(text, strlen(text));
    g_autoptr(Message) message = message_new(octets);
    g_autofree char *value = send_at_take(message), *again = send_at_take(message);
    g_assert_cmpstr(again, ==, NULL);
    assert_read(value, EIGHT);
    g_autoptr(GBytes) left = message_octets(message);
    g_assert_cmpmem(g_bytes_get_data(left, NULL), g_bytes_get_size(left),
                    "Subject: x\r\n\r\nX-Listrunner-Send-At: body\r\n", 42);
}

SUITE("date")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/date/read", test_read);
    g_test_add_func("/date/none", test_none);
    g_test_add_func("/send_at/forms", test_forms);
    g_test_add_func("/send_at/not ahead", test_not_ahead);
    g_test_add_func("/send_at/refused", test_refused);
    g_test_add_func("/send_at/taken", test_taken);
    return g_test_run();
}
