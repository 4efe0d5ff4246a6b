/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Catalogues in the format PO. */
#include "runners/web/theme.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/fail.h"
#include "t/suite.h"

static Catalogue *read_text(const char *text, GError **error)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("catalogue-XXXXXX", &path, NULL);
    g_assert_cmpint(fd, >=, 0);
    g_assert_true(g_close(fd, NULL));
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    Catalogue *catalogue = theme_catalogue_read(path, error);
    g_assert_cmpint(g_unlink(path), ==, 0);
    return catalogue;
}

static void test_texts(void)
{
    GError *error = NULL;
    g_autoptr(Catalogue)
        catalogue = read_text("# a comment\n"
                              "msgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\n"
                              "#: leave.mustache\nmsgid \"Leave\"\nmsgstr \"Verlassen\"\n\n"
                              "msgid \"\"\n\"a \\\"long\\\" \"\n\"text\"\nmsgstr \"\"\n\"ein \"\n\"\\\\langer\"\n"
                              "\n#, fuzzy\nmsgid \"doubt\"\nmsgstr \"Zweifel\"\n"
                              "\nmsgid \"empty\"\nmsgstr \"\"\n\nmsgid \"last\"\nmsgstr \"letzter\"\n",
                              &error);
    g_assert_no_error(error);
    g_assert_cmpstr(theme_catalogue_text(catalogue, "Leave"), ==, "Verlassen");
    g_assert_cmpstr(theme_catalogue_text(catalogue, "a \"long\" text"), ==, "ein \\langer");
    g_assert_cmpstr(theme_catalogue_text(catalogue, "doubt"), ==, "doubt");
    g_assert_cmpstr(theme_catalogue_text(catalogue, "empty"), ==, "empty");
    g_assert_cmpstr(theme_catalogue_text(catalogue, "last"), ==, "letzter");
    g_assert_cmpstr(theme_catalogue_text(catalogue, "unknown"), ==, "unknown");
    g_assert_cmpstr(theme_catalogue_text(NULL, "Leave"), ==, "Leave");
}

static void test_mistakes(void)
{
    static const struct {
        const char *text, *where;
    } wrong[] = {
        {"msgid \"a\"\nmsgstr \"b\n", "line 2"},
        {"msgstr \"b\"\n", "line 1"},
        {"\nhello\n", "line 2"},
        {"\"a\"\n", "line 1"},
        {"msgid a\n", "line 1"},
        {"msgid \"\xff\"\n", "UTF-8"},
        {"msgid \"a\"\nmsgstr[0] \"b\"\n", "line 2"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(read_text(wrong[i].text, &error));
        g_assert_error(error, FAIL, FAIL_CONFIG);
        g_assert_nonnull(strstr(error->message, wrong[i].where));
    }
    g_autoptr(GError) error = NULL;
    g_assert_null(theme_catalogue_read("/no/such.po", &error));
    g_assert_error(error, FAIL, FAIL_MISSING);
}

SUITE("web/catalogue")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/catalogue/texts", test_texts);
    g_test_add_func("/catalogue/mistakes", test_mistakes);
    return g_test_run();
}
