/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mbox_time.h"

#include <glib.h>

#include "base/clock.h"

static void reads_what_programs_write(void)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } rows[] = {
        {"Fri, 20 Nov 2026 13:20:00 +0000", 1795180800},
        {"Fri, 20 Nov 2026 13:20:00 +0130", 1795175400},
        {"20 Nov 2026 13:20 -0500 (EST)", 1795198800},
        {"Fri, 20 Nov 26 13:20:00 EST", 1795198800},
        {"Wed Jan  3 11:11:11 2001", 978520271},
        {"Wed, 3-Jan-2001 11:11:11 GMT", 978520271},
        {"Wed,3 Jan 101 11:11:11 UT", 978520271},
        {"3 Jan 01 11:11:11 (a (nested) comment, 5 Feb) Z", 978520271},
        {"Sat, 31 Dec 2016 23:59:60 +0000", 1483228799},
        {"Fri, 20 Nov 2026 13:20:00 +9999", 1795180800},
        {"", 0},
        {"yesterday", 0},
        {"20 Nov 2026", 0},
        {"Fri, 31 Feb 2026 13:20:00 +0000", 0},
        {"1 Jan 1969 00:00:00 +0000", 0},
        {"1 Jan 1970 00:00:00 +0100", 0},
        {"20 Nov 99999999999999999999 13:20:00", 0},
        {"((((((((((", 0},
        {"20 Nov 2026 99:99:99", 0},
        {"20 Nov 2026 -1:-1", 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        int64_t found = mbox_time_read(rows[i].text) / CLOCK_SECOND;
        if (found != rows[i].seconds)
            g_test_message("%s", rows[i].text);
        g_assert_cmpint(found, ==, rows[i].seconds);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mbox_time/reads what programs write", reads_what_programs_write);
    return g_test_run();
}
