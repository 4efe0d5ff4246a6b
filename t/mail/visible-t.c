/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/visible.h"
#include "t/suite.h"

#include <string.h>

static void assert_visible(const char *text, size_t length, const char *wanted)
{
    g_autoptr(GString) out = g_string_new(NULL);
    visible_append(out, text, length);
    g_assert_cmpstr(out->str, ==, wanted);
    g_assert_cmpuint(out->len, ==, strlen(wanted));
}

#define ASSERT_VISIBLE(text, wanted) assert_visible(text, sizeof text - 1, wanted)

static void test_left_out(void)
{
    ASSERT_VISIBLE("", "");
    ASSERT_VISIBLE("a\tb\nc", "a\tb\nc");
    ASSERT_VISIBLE("\033[31mred\a\0\x7f", "[31mred");
    ASSERT_VISIBLE("a\xc2\x9b"
                   "b\xc2\x85"
                   "c",
                   "abc");
    ASSERT_VISIBLE("\u202egnp.exe\u202c \u2066x\u2069", "gnp.exe x");
    ASSERT_VISIBLE("\ufeffx\ufff9y\ufffb", "xy");
    ASSERT_VISIBLE("\u05d0\u200f \u0639\u061c", "\u05d0\u200f \u0639\u061c");
    ASSERT_VISIBLE("<b>&amp;", "<b>&amp;");
}

static void test_replaced(void)
{
    ASSERT_VISIBLE("a\r\nb\rc\u2028d\u2029e", "a\nb\nc\nd\ne");
    ASSERT_VISIBLE("\ufffe\uffff", "\ufffd\ufffd");
    ASSERT_VISIBLE("a\xff\xfe z\xc3", "a\ufffd\ufffd z\ufffd");
    ASSERT_VISIBLE("\xed\xa0\x80", "\ufffd\ufffd\ufffd"); /* half of a surrogate pair */
}

static void assert_line(const char *text, size_t most, const char *wanted)
{
    g_autofree char *line = visible_line(text, most);
    g_assert_cmpstr(line, ==, wanted);
}

static void test_line(void)
{
    assert_line("  a \n\t b\r\n", 100, "a b");
    assert_line("", 100, "");
    assert_line(" \n ", 100, "");
    assert_line("12345678", 8, "12345678");
    assert_line("123456789", 8, "12345\u2026");
    assert_line("\u00e4\u00e4\u00e4\u00e4\u00e4", 8, "\u00e4\u00e4\u2026");
    assert_line("\U0001f600\U0001f600", 4, "\u2026");
}

SUITE("visible")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/visible/left out", test_left_out);
    g_test_add_func("/visible/replaced", test_replaced);
    g_test_add_func("/visible/line", test_line);
    return g_test_run();
}
