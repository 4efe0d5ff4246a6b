/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The theme: what comes with Listrunner, a site's files over it, and the languages of browsers. */
#include "runners/web/theme.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/fail.h"
#include "t/suite.h"

typedef struct Folders {
    char *built_in, *site;
} Folders;

static void write_file(const char *folder, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(folder, name, NULL), *above = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(above, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void set_up(Folders *folders, const void *data)
{
    (void)data;
    folders->built_in = g_dir_make_tmp("theme-XXXXXX", NULL);
    folders->site = g_dir_make_tmp("theme-XXXXXX", NULL);
    write_file(folders->built_in, "page.mustache", "{{>head}}{{#_}}Hello {{name}}{{/_}}\n");
    write_file(folders->built_in, "head.mustache", "<h1>\n");
    write_file(folders->built_in, "style.css", "a {}\n");
    write_file(folders->built_in, "icon.svg", "<svg/>\n");
    write_file(folders->built_in, "archive.js", "x\n");
    write_file(folders->built_in, "desk_site.js", "x\n");
    write_file(folders->built_in, "po/de.po", "msgid \"Hello {{name}}\"\nmsgstr \"Hallo {{name}}\"\n");
    write_file(folders->built_in, "po/zh_CN.po", "msgid \"x\"\nmsgstr \"y\"\n");
}

static void remove_folder(char *folder)
{
    const char *const command[] = {"rm", "-r", folder, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
    g_free(folder);
}

static void tear_down(Folders *folders, const void *data)
{
    (void)data;
    remove_folder(folders->built_in);
    remove_folder(folders->site);
}

static void shows(const Theme *theme, const char *language, const char *wanted)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) out = g_string_new(NULL);
    json_auto_t *view = json_pack("{ss}", "name", "<Anne>");
    g_assert_true(theme_fill(theme, language, "page", view, out, &error));
    g_assert_no_error(error);
    g_assert_cmpstr(out->str, ==, wanted);
}

static void test_layers(Folders *folders, const void *data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    g_autoptr(Theme) plain = theme_new(folders->built_in, NULL, &error);
    g_assert_no_error(error);
    shows(plain, "en", "<h1>\nHello &lt;Anne&gt;\n");
    shows(plain, "de", "<h1>\nHallo &lt;Anne&gt;\n");
    write_file(folders->site, "head.mustache", "<b>\n");
    write_file(folders->site, "style.css", "b {}\n");
    write_file(folders->site, "po/de.po", "msgid \"Hello {{name}}\"\nmsgstr \"Moin {{name}}\"\n");
    write_file(folders->site, "po/nl.po", "msgid \"Hello {{name}}\"\nmsgstr \"Dag {{name}}\"\n");
    g_autoptr(Theme) own = theme_new(folders->built_in, folders->site, &error);
    g_assert_no_error(error);
    shows(own, "de", "<b>\nMoin &lt;Anne&gt;\n");
    shows(own, "nl", "<b>\nDag &lt;Anne&gt;\n");
    shows(own, "zh_CN", "<b>\nHello &lt;Anne&gt;\n");
    const ThemeFile *before = theme_file(plain, "style.css"), *after = theme_file(own, "style.css");
    g_assert_cmpstr(g_bytes_get_data(after->content, NULL), ==, "b {}\n");
    g_assert_cmpstr(before->tag, !=, after->tag);
    g_assert_cmpstr(theme_file(plain, "icon.svg")->tag, ==, theme_file(own, "icon.svg")->tag);
    g_assert_null(theme_file(own, "../style.css"));
    g_assert_cmpstr(theme_text(own, "de", "Hello {{name}}"), ==, "Moin {{name}}");
}

static void test_languages(Folders *folders, const void *data)
{
    (void)data;
    static const struct {
        const char *accept, *language;
    } asked[] = {
        {NULL, "en"},
        {"", "en"},
        {"de", "de"},
        {"de-AT,en;q=0.5", "de"},
        {"en-GB, de;q=0.9", "en"},
        {"fr, de;q=0.2, en;q=0.1", "de"},
        {"zh-CN", "zh_CN"},
        {"zh", "zh_CN"},
        {"zh-TW", "zh_CN"},
        {"*", "en"},
        {"DE;q=1.0", "de"},
        {"de;q=0", "en"},
        {"de;q=x", "en"},
        {";;;,,q=", "en"},
    };
    g_autoptr(Theme) theme = theme_new(folders->built_in, NULL, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(asked); i++)
        g_assert_cmpstr(theme_language(theme, asked[i].accept), ==, asked[i].language);
    g_autofree char *endless = g_strnfill(1 << 20, ',');
    g_assert_cmpstr(theme_language(theme, endless), ==, "en");
}

static void test_mistakes(Folders *folders, const void *data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    write_file(folders->site, "page.mustache", "{{#x}}");
    g_assert_null(theme_new(folders->built_in, folders->site, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_nonnull(strstr(error->message, folders->site));
    g_clear_error(&error);
    write_file(folders->site, "page.mustache", "\xff");
    g_assert_null(theme_new(folders->built_in, folders->site, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_clear_error(&error);
    g_assert_null(theme_new("/no/such", NULL, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
}

SUITE("web/theme")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/theme/a site's files over ours", Folders, NULL, set_up, test_layers, tear_down);
    g_test_add("/theme/languages", Folders, NULL, set_up, test_languages, tear_down);
    g_test_add("/theme/mistakes", Folders, NULL, set_up, test_mistakes, tear_down);
    return g_test_run();
}
