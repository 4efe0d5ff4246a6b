/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The tables of settings are whole, and the example file that is made of them is a configuration. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/config_internal.h"
#include "base/config_table.h"
#include "t/suite.h"

static char *place; /* a directory for all tests of this run */

static Config *accept(const char *text)
{
    g_autofree char *path = g_build_filename(place, "listrunner.conf", NULL);
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    Config *config = config_load(path, true, &error);
    g_unlink(path);
    g_assert_no_error(error);
    return config;
}

/* The file that the build made; NULL: this runs outside a build. */
static char *made_file(const char *name)
{
    const char *top = g_getenv("top_builddir");
    g_autofree char *path = g_build_filename(top ? top : ".", name, NULL);
    char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        g_test_skip("the build is not here (top_builddir)");
    return text;
}

/* Words of `readers` are runners that are built in. */
static void check_readers(const char *readers)
{
    g_auto(GStrv) words = g_strsplit(readers ? readers : "", " ", -1);
    for (char **word = words; *word; word++) {
        g_autofree char *section = g_strconcat("runner.", *word, NULL);
        g_test_message("reader %s", *word);
        g_assert_true(g_str_equal(*word, "*") || config_is_built_in(section));
    }
}

static void check_key(const ConfigTable *table, const ConfigKey *key)
{
    g_test_message("[%s] %s", table->section, key->name);
    g_assert_true(key->about && g_str_has_suffix(key->about, "."));
    g_assert_true(!key->more || g_str_has_suffix(key->more, "."));
    g_assert_true((key->type == CONFIG_CHOICE) == (key->choices != NULL));
    check_readers(key->readers);
    /* A default that says nothing to a reader has an example beside it. */
    if (!key->fallback || strstr(key->fallback, CONFIG_NAME) || strstr(key->fallback, CONFIG_SYSTEM) ||
        strstr(key->fallback, CONFIG_HOSTNAME))
        g_assert_nonnull(key->example);
}

static void test_tables(void)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) explained = g_hash_table_new(g_str_hash, g_str_equal);
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        /* The first table of a section tells what the section is. */
        g_assert_true(g_hash_table_add(explained, (gpointer)table->section) == (table->about != NULL));
        check_readers(table->readers);
        for (const ConfigKey *key = table->keys; key->name; key++) {
            check_key(table, key);
            g_assert_true(g_hash_table_add(seen, g_strdup_printf("[%s] %s", table->section, key->name)));
        }
    }
    const ConfigMember *member;
    for (unsigned i = 0; (member = config_member(i)); i++)
        check_readers(member->readers);
    g_assert_cmpuint(g_hash_table_size(seen), >, 100);
}

/* As it is, and with every key taken out of its comment. */
static void test_example_parses(void)
{
    g_autofree char *text = made_file("etc/listrunner.conf");
    if (!text)
        return;
    g_autoptr(Config) config = accept(text);
    g_autofree char *plain = config_print(config, true);
    g_autoptr(Config) nothing = accept("");
    g_autofree char *defaults = config_print(nothing, true);
    g_assert_cmpstr(plain, ==, defaults);

    g_autoptr(GRegex) live = g_regex_new("^#(?=[a-z_]+ = |\\[)", G_REGEX_MULTILINE, 0, NULL);
    g_autofree char *uncommented = g_regex_replace(live, text, -1, 0, "", 0, NULL);
    g_autoptr(GString) named = g_string_new(uncommented);
    g_string_replace(named, ".NAME]", ".count]", 0);
    g_string_replace(named, "external = scanner", "external = count", 0);
    g_string_replace(named, "external.scanner", "external.count", 0);
    g_string_replace(named, "the system's host name", "lists.example.org", 0);
    g_autoptr(Config) all = accept(named->str);
    const ConfigTable *table;
    for (unsigned i = 0; (table = config_table(i)); i++) {
        g_autoptr(GString) section = g_string_new(table->section);
        g_string_replace(section, "transport.*", "transport.relay", 0);
        g_string_replace(section, "*", "count", 0);
        const ConfigSection *found = config_section(all, section->str);
        g_assert_nonnull(found);
        for (const ConfigKey *key = table->keys; key->name; key++)
            g_assert_cmpint(config_section_value(found, key->name)->line, >, 0);
    }
}

SUITE("config_text")
{
    g_test_init(&argc, &argv, NULL);
    place = g_dir_make_tmp("config-XXXXXX", NULL);
    g_test_add_func("/config/tables", test_tables);
    g_test_add_func("/config/example-parses", test_example_parses);
    int result = g_test_run();
    g_rmdir(place);
    g_free(place);
    return result;
}
