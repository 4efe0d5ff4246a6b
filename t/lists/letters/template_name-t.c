/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The table of templates, and the letters of etc/templates. */
#include <string.h>

#include "base/fail.h"
#include "lists/letters/template_name.h"
#include "t/suite.h"

static char *templates(void)
{
    return g_build_filename(g_getenv("top_srcdir") ? g_getenv("top_srcdir") : ".", "etc", "templates", NULL);
}

/* Calls each for every letter in every language. */
static unsigned each_letter(void (*each)(const char *path, const char *name))
{
    g_autofree char *top = templates();
    g_autoptr(GDir) languages = g_dir_open(top, 0, NULL);
    g_assert_nonnull(languages);
    unsigned count = 0;
    for (const char *language; (language = g_dir_read_name(languages));) {
        g_autofree char *folder = g_build_filename(top, language, NULL);
        g_autoptr(GDir) files = g_dir_open(folder, 0, NULL);
        g_assert_nonnull(files);
        for (const char *file; (file = g_dir_read_name(files)); count++) {
            g_autofree char *path = g_build_filename(folder, file, NULL);
            g_autofree char *name = g_strndup(file, strlen(file) - strlen(".txt"));
            each(path, name);
        }
    }
    return count;
}

static void check_letter(const char *path, const char *name)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    const TemplateName *row = template_name_find(name);
    if (g_str_equal(name, "answers"))
        return;
    g_assert_true(g_file_get_contents(path, &text, NULL, &error));
    if (!row)
        g_error("%s is in no row of template_table", path);
    if (!template_check(row, text, &error))
        g_error("%s: %s", path, error->message);
}

static void test_letters(void)
{
    g_assert_cmpuint(each_letter(check_letter), >, 6 * 30);
}

static void test_files(void)
{
    g_autofree char *top = templates();
    for (const TemplateName *row = template_table; row->mailman; row++) {
        g_autofree char *path = row->file ? g_strdup_printf("%s/en/%s.txt", top, row->file) : NULL;
        if (path && !g_file_test(path, G_FILE_TEST_EXISTS))
            g_error("%s is not there", path);
        g_assert_true(template_name_find(row->mailman) == row);
    }
}

static void test_unknown(void)
{
    g_autoptr(GError) error = NULL;
    const TemplateName *welcome = template_name_find("list:user:notice:welcome");
    g_assert_true(template_check(welcome, "$list_name, ${user_email}: $$5\n", &error));
    g_assert_false(template_check(welcome, "Hello $adress\n", &error));
    g_assert_true(g_error_matches(error, FAIL, FAIL_NEVER));
    g_assert_nonnull(strstr(error->message, "$adress"));
    g_assert_nonnull(strstr(error->message, " $list_name,"));
}

/* Texts of other systems have names that nobody fills in here; a text comes all the same. */
static void test_keep_unknown(void)
{
    g_autofree char *odd = NULL, *none = NULL;
    const TemplateName *welcome = template_name_find("list:user:notice:welcome");
    g_autofree char *kept = template_keep_unknown(welcome, "$$x ${what}$list_name $5 $what/$url$", &odd);
    g_assert_cmpstr(kept, ==, "$$x $${what}$list_name $5 $$what/$$url$");
    g_assert_cmpstr(odd, ==, "$what, $url");
    g_assert_true(template_check(welcome, kept, NULL));
    g_autofree char *same = template_keep_unknown(welcome, "$user_name", &none);
    g_assert_cmpstr(same, ==, "$user_name");
    g_assert_null(none);
}

SUITE("template_name")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/template_name/each letter has a row and known placeholders", test_letters);
    g_test_add_func("/template_name/each row has its file", test_files);
    g_test_add_func("/template_name/an unknown placeholder is refused", test_unknown);
    g_test_add_func("/template_name/an unknown placeholder of another system is kept", test_keep_unknown);
    return g_test_run();
}
