/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/fold.h"
#include "t/suite.h"

#include <string.h>

#define FORTY "forty-characters-without-any-blank-in-it"

static char *fold(const char *indent, const char *text)
{
    GString *to = g_string_new(NULL);
    fold_append(to, indent, text);
    return g_string_free(to, FALSE);
}

static void test_lines(void)
{
    static const struct {
        const char *indent, *text, *folded;
    } cases[] = {
        {"    ", "short", "    short\n"},
        {"    ", "one\n\ntwo\n", "    one\n\n    two\n"},
        {"", "", ""},
        {"", FORTY " and " FORTY, FORTY " and\n" FORTY "\n"},
        {"  ", "word " FORTY FORTY " word", "  word\n  " FORTY FORTY "\n  word\n"},
        {"", FORTY FORTY FORTY, FORTY FORTY FORTY "\n"},
        {"", "\xff" FORTY " and " FORTY, NULL}, /* no UTF-8 does no harm */
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *valid = g_utf8_make_valid(cases[at].text, -1);
        g_autofree char *folded = fold(cases[at].indent, valid);
        if (cases[at].folded)
            g_assert_cmpstr(folded, ==, cases[at].folded);
    }
}

/* Without blanks, and no line begins with a full stop or a closing bracket. */
static void test_wide(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (int at = 0; at < 13; at++)
        g_string_append(text, "会員（一覧）。");
    g_autofree char *folded = fold("", text->str);
    g_auto(GStrv) lines = g_strsplit(folded, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 4);
    for (char **line = lines; **line; line++) {
        g_assert_cmpint(g_utf8_strlen(*line, -1), <=, FOLD_COLUMNS / 2);
        g_assert_false(g_str_has_prefix(*line, "。") || g_str_has_prefix(*line, "）"));
        g_assert_false(g_str_has_suffix(*line, "（"));
    }
}

static void test_paragraphs(void)
{
    g_autofree char *folded = fold_paragraphs(FORTY " and " FORTY "\n\n    " FORTY " " FORTY "\n> " FORTY " " FORTY
                                              "\n-- \nend");
    g_assert_cmpstr(folded, ==, FORTY " and\n" FORTY "\n\n    " FORTY " " FORTY "\n> " FORTY " " FORTY "\n-- \nend");
    g_autofree char *empty = fold_paragraphs("");
    g_assert_cmpstr(empty, ==, "");
}

/* A long value pushes words into a line of their own; where the sentence goes on in the next line, they join it. */
static void test_goes_on(void)
{
    g_autofree char *folded = fold_paragraphs("on the list " FORTY ", and gets no more of it. If\n"
                                              "you did not want this, write to us\nand to others.\n");
    g_assert_cmpstr(folded, ==, "on the list " FORTY ", and gets no more of it.\n"
                                "If you did not want this, write to us\nand to others.\n");
    g_autofree char *long_again = fold_paragraphs("a " FORTY FORTY "\nb " FORTY FORTY "\nc");
    g_assert_cmpstr(long_again, ==, "a\n" FORTY FORTY "\nb\n" FORTY FORTY "\nc");
    g_autofree char *apart = fold_paragraphs("To join, write to " FORTY " " FORTY "\nTo leave, do nothing\n"
                                             FORTY " " FORTY "\n  an example\n" FORTY " " FORTY "\n\nend");
    g_assert_cmpstr(apart, ==, "To join, write to " FORTY "\n" FORTY "\nTo leave, do nothing\n"
                               FORTY "\n" FORTY "\n  an example\n" FORTY "\n" FORTY "\n\nend");
}

SUITE("fold")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mail/fold/lines", test_lines);
    g_test_add_func("/mail/fold/wide characters", test_wide);
    g_test_add_func("/mail/fold/paragraphs", test_paragraphs);
    g_test_add_func("/mail/fold/sentence goes on", test_goes_on);
    return g_test_run();
}
