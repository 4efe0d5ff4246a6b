/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/subject.h"
#include "t/suite.h"

#include <glib.h>

static void takes_away_what_the_rfc_says(void)
{
    static const struct {
        const char *subject, *base;
        bool reply;
    } rows[] = {
        {"Frost", "frost", false},
        {"Re: Frost", "frost", true},
        {"RE: re :Fwd:  Frost\t in  May", "frost in may", true},
        {"[Test] Frost", "frost", false},
        {"[Test] Re: [Test] Frost", "frost", true},
        {"Re: [Test]", "[test]", true},
        {"Re[2]: Frost", "frost", true},
        {"[Fwd: Re: Frost]", "frost", true},
        {"Frost (fwd) (fwd)", "frost", true},
        {"AW: Frost", "frost", true},
        {"回复：Frost", "frost", true},
        {"Reading: frost", "reading: frost", false},
        {"Re:", "", true},
        {"", "", false},
        {"[", "[", false},
        {"[]", "[]", false},
        {"[fwd:", "[fwd:", false},
        {"[fwd:]", "", true},
        {"(fwd)", "", true},
        {"\xff\xfe Re: x", "\xef\xbf\xbd\xef\xbf\xbd re: x", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        bool reply;
        g_autofree char *base = base_subject(rows[i].subject, &reply);
        g_assert_cmpstr(base, ==, rows[i].base);
        g_assert_cmpint(reply, ==, rows[i].reply);
    }
}

static void long_ones_take_no_time(void)
{
    g_autoptr(GString) subject = g_string_new(NULL);
    while (subject->len < 1 << 20)
        g_string_append(subject, "Re: [x] ");
    bool reply;
    g_autofree char *base = base_subject(subject->str, &reply);
    g_assert_true(reply);
}

SUITE("subject")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base_subject/takes away what the RFC says", takes_away_what_the_rfc_says);
    g_test_add_func("/base_subject/long ones take no time", long_ones_take_no_time);
    return g_test_run();
}
