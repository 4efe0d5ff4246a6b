/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/mailbox.h"

#include <glib.h>
#include <string.h>

#include "base/fail.h"
#include "t/addresses.h"
#include "t/suite.h"

static void test_valid(void)
{
    for (const char *const *address = addresses_good; *address; address++)
        if (!mailbox_valid(*address))
            g_error("%s is not taken", *address);
    for (const char *const *address = addresses_bad; *address; address++)
        if (mailbox_valid(*address))
            g_error("%s is taken", *address);
    for (const char *const *address = addresses_unseen; *address; address++)
        if (!mailbox_valid(*address) || mailbox_legible(*address))
            g_error("%s is refused, or legible", *address);
    for (const char *const *address = addresses_good; *address; address++)
        if (!mailbox_legible(*address))
            g_error("%s is not legible", *address);
    g_autofree char *longest = g_strnfill(MAILBOX_MAX - 5, 'a'), *fits = g_strconcat(longest, "@b.cd", NULL);
    g_autofree char *over = g_strconcat("a", fits, NULL);
    g_assert_true(mailbox_valid(fits));
    g_assert_false(mailbox_valid(over));
}

static void test_value(void)
{
    static const struct {
        const char *text, *bare, *folded;
        bool valid, legible;
    } cases[] = {
        {"Jo.Doe@Example.COM", "Jo.Doe@Example.COM", "example.com jo.doe", true, true},
        {"J\303\234@\303\204.de", "J\303\234@\303\204.de", "\303\244.de j\303\274", true, true},
        {"jo@XN--4CA.de", "jo@XN--4CA.de", "xn--4ca.de jo", true, true},
        {"\"Foo..bar\"@x", "Foo..bar@x", "x foo..bar", true, true},
        {"\"a @b\"@x", "\"a @b\"@x", "x \"a @b\"", true, true},
        {"jo\342\200\213@x", "jo\342\200\213@x", "x jo\342\200\213", true, false},
        {"Jo Doe@x", "Jo Doe@x", "x jo doe", false, false},
        {"Jo", "Jo", "jo", false, false},
        {"\"", "\"", "\"", false, false},
        {"", "", "", false, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GError *error = NULL;
        g_autoptr(Mailbox) mailbox = mailbox_new(cases[i].text);
        g_assert_cmpstr(mailbox->text, ==, cases[i].text);
        g_assert_cmpstr(mailbox->bare, ==, cases[i].bare);
        g_assert_cmpstr(mailbox->folded, ==, cases[i].folded);
        g_assert_cmpint(mailbox->valid, ==, cases[i].valid);
        g_assert_cmpint(mailbox->legible, ==, cases[i].legible);
        g_assert_cmpint(mailbox_check(mailbox, &error), ==, cases[i].valid);
        if (!cases[i].valid)
            g_assert_error(error, FAIL, FAIL_NEVER);
        g_clear_error(&error);
    }
    g_assert_null(mailbox_new(NULL));

    GError *error = NULL;
    g_autoptr(Mailbox) broken = mailbox_new("J\377@x");
    g_assert_cmpstr(broken->folded, ==, "x j\377");
    g_assert_false(mailbox_check(broken, &error));
    g_assert_error(error, FAIL, FAIL_NEVER);
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
    g_clear_error(&error);
}

static void test_domain(void)
{
    static const char *const right[] = {"b", "b.c", "x-y.org", "_dmarc.x", "1.2", "m\303\274ller.de"};
    static const char *const wrong[] = {"",   ".",  "b.",   ".b",  "b..c",        "-b",
                                        "b-", "b.-c", "b c", "b@c", "[192.0.2.1]", "b/c"};
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++)
        if (!mailbox_domain_valid(right[i]))
            g_error("%s is not taken", right[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        if (mailbox_domain_valid(wrong[i]))
            g_error("%s is taken", wrong[i]);
}

static void test_bare(void)
{
    static const struct {
        const char *given, *bare;
    } cases[] = {
        {"\"jo\"@x", "jo@x"},
        {"\"foo..bar\"@x", "foo..bar@x"},
        {"\"foo.\"@x", "foo.@x"},
        {"\"a\\b\"@x", "ab@x"},
        {"\"a\\ b\"@x", "\"a b\"@x"},
        {"\"a\\\"b\"@x", "\"a\\\"b\"@x"},
        {"\"a\\\\b\"@x", "\"a\\\\b\"@x"},
        {"\"\"@x", "\"\"@x"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *bare = mailbox_bare(cases[i].given);
        g_assert_cmpstr(bare, ==, cases[i].bare);
    }
    for (const char *const *address = addresses_good; *address; address++) {
        g_autofree char *bare = mailbox_bare(*address);
        g_assert_cmpstr(bare, ==, *address);
    }
    g_assert_null(mailbox_bare("jo"));
}

static void test_base(void)
{
    static const char *const cases[][2] = {
        {"jo@x.example", "jo@x.example"},         {"Jo.Doe+a.b+c@X.Example", "jodoe@x.example"},
        {"j.o.@x.example", "jo@x.example"},       {"\"jo+1\"@x.example", "jo@x.example"},
        {"+jo@x.example", "+jo@x.example"},       {"\"j.o +1\"@x.example", "\"j.o +1\"@x.example"},
        {"j.o+1@googlemail.com", "jo@gmail.com"}, {"jo+1@gmail.com", "jo@gmail.com"},
        {"jo", "jo"},                             {"", ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *base = mailbox_base(cases[i][0]);
        g_assert_cmpstr(base, ==, cases[i][1]);
    }
}

static void test_detail(void)
{
    g_assert_true(mailbox_has_detail("jo+1@x.example"));
    g_assert_true(mailbox_has_detail("jo+@x.example"));
    g_assert_false(mailbox_has_detail("jo@x.example"));
    g_assert_false(mailbox_has_detail("jo@x+1.example"));
    g_assert_false(mailbox_has_detail("jo+1"));
}

static void test_path(void)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"a@b> SIZE=1", 3}, {"a@b", 3},          {"", 0},           {"> x", 0},        {"a b@c", 1},
        {"a<b", 1},         {"a@b\r\nQUIT", 3},  {"\"a b>\"@c>", 8}, {"\"a b>@c", 0},   {"\"a\\\"@c>", 0},
        {"\"a\r\n\"@c", 0}, {"postmaster> x", 10}, {"\"a\\", 0},     {"\"a\\\n\"@b", 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        if (mailbox_path_length(cases[i].text, strlen(cases[i].text)) != cases[i].length)
            g_error("%s: %zu", cases[i].text, mailbox_path_length(cases[i].text, strlen(cases[i].text)));
    g_assert_cmpuint(mailbox_path_length("a\0b", 3), ==, 1);
    for (const char *const *address = addresses_good; *address; address++)
        g_assert_cmpuint(mailbox_path_length(*address, strlen(*address)), ==, strlen(*address));
}

SUITE("mailbox")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mailbox/valid", test_valid);
    g_test_add_func("/mailbox/value", test_value);
    g_test_add_func("/mailbox/domain", test_domain);
    g_test_add_func("/mailbox/bare", test_bare);
    g_test_add_func("/mailbox/base", test_base);
    g_test_add_func("/mailbox/detail", test_detail);
    g_test_add_func("/mailbox/path", test_path);
    return g_test_run();
}
