/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/template.h"
#include "t/suite.h"

#include <string.h>

#include <glib/gstdio.h>

static void put(const char *folder, const char *language, const char *text)
{
    g_autofree char *dir = g_build_filename(folder, language, NULL);
    g_assert_cmpint(g_mkdir_with_parents(dir, 0700), ==, 0);
    g_autofree char *path = g_build_filename(dir, "word.txt", NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void drop(const char *folder, const char *language)
{
    g_autofree char *path = g_build_filename(folder, language, "word.txt", NULL);
    g_autofree char *dir = g_build_filename(folder, language, NULL);
    g_remove(path);
    g_rmdir(dir);
}

static void assert_load(const char *folder, const char *language, const char *expected)
{
    g_autofree char *text = template_load_from(folder, language, "word");
    g_assert_cmpstr(text, ==, expected);
}

static void test_places(void)
{
    g_autofree char *site = g_dir_make_tmp("template-XXXXXX", NULL), *own = g_dir_make_tmp("template-XXXXXX", NULL);
    template_set_built_in(own);
    assert_load(site, "de", NULL);
    put(own, "de", "built-in de");
    assert_load(site, "de", NULL);
    put(site, "de", "site de");
    assert_load(site, "de", "site de");
    assert_load(NULL, "de", "built-in de");
    assert_load(site, "de-AT", "site de");
    assert_load(site, "../de", NULL);
    put(site, "zh_CN", "site zh_CN");
    assert_load(site, "zh", "site zh_CN");
    static const char *const languages[] = {"de", "zh_CN"};
    for (unsigned at = 0; at < G_N_ELEMENTS(languages); at++) {
        drop(site, languages[at]);
        drop(own, languages[at]);
    }
    g_rmdir(site);
    g_rmdir(own);
    template_set_built_in(NULL);
}

static void test_fill(void)
{
    const TemplateValue values[] = {{"name", "Anne $list"}, {"list", "test"}, {"none", NULL}, {0}};
    g_autofree char *text = template_fill("$name, ${list}s $$5 $listing $none. ${open $ $", values);
    g_assert_cmpstr(text, ==, "Anne $list, tests $5 $listing . ${open $ $");
}

/* A value counts once however long it is; what is repeated has a bound, and what does not fit is left out. */
static void test_repeated(void)
{
    g_autofree char *info = g_strnfill(60000, 'i');
    const TemplateValue values[] = {
        {"info", info}, {"more", info}, {"name", "Anne"}, {"list_id", "test.example.com"}, {0}};
    g_autoptr(GString) often = g_string_new("Footer of the list\n");
    for (int at = 0; at < 4000; at++)
        g_string_append(often, at % 2 ? "$more$name" : "$info$name");
    g_autofree char *text = template_fill(often->str, values);
    g_assert_cmpuint(strlen(text), >, 2 * 60000);
    g_assert_cmpuint(strlen(text), <=, often->len + 60000 + TEMPLATE_REPEATED_MAX);
    g_autofree char *whole = template_fill("$info$name$name", values);
    g_assert_cmpuint(strlen(whole), ==, 60000 + 8);
}

SUITE("template")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/template/places", test_places);
    g_test_add_func("/template/fill", test_fill);
    g_test_add_func("/template/repeated values", test_repeated);
    return g_test_run();
}
