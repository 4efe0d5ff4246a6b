/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The example file and the manual page say of each key what the schema says. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/config_internal.h"

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

static char *tree_file(const char *name)
{
    const char *top = g_getenv("top_srcdir");
    g_autofree char *path = g_build_filename(top ? top : ".", name, NULL);
    char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        g_test_skip("the source tree is not here (top_srcdir)");
    return text;
}

/* A default as the documentation shows it: for a system-wide build, with words for what is known at run time. */
static char *shown(const char *fallback)
{
    g_autoptr(GString) text = g_string_new(fallback);
    g_string_replace(text, LIBEXECDIR, "/usr/libexec/listrunner", 0);
    g_string_replace(text, DATADIR, "/usr/share/listrunner", 0);
    g_string_replace(text, RUNSTATEDIR, "/run", 0);
    g_string_replace(text, LOCALSTATEDIR, "/var", 0);
    g_string_replace(text, CONFIG_TOKEN_NAME, "NAME", 0);
    g_string_replace(text, CONFIG_TOKEN_HOSTNAME, "HOSTNAME", 0);
    g_string_replace(text, CONFIG_TOKEN_SYSTEM, "the system's host name", 0);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* The lines of section, from the first heading that begins with head to the next one. */
static char *part_of(const char *text, const char *head, const char *next_head)
{
    const char *start = strstr(text, head);
    if (!start)
        return NULL;
    const char *end = strstr(start + strlen(head), next_head);
    return end ? g_strndup(start, (size_t)(end - start)) : g_strdup(start);
}

/* The comment before the line "#KEY = ", as one line. */
static char *comment_before(const char *part, const char *key)
{
    g_autofree char *line = g_strdup_printf("\n#%s = ", key);
    const char *end = strstr(part, line);
    if (!end)
        return NULL;
    g_autofree char *before = g_strndup(part, (size_t)(end - part));
    const char *start = g_strrstr(before, "\n\n");
    g_autoptr(GString) comment = g_string_new(start ? start + 2 : before);
    g_string_replace(comment, "\n# ", " ", 0);
    return g_string_free(g_steal_pointer(&comment), FALSE);
}

static void check_example_key(const char *text, const ConfigKey *key)
{
    bool family = g_str_has_suffix(key->section, ".*");
    g_autofree char *stem = g_strndup(key->section, strlen(key->section) - (family ? 1 : 0));
    g_autofree char *head = g_strdup_printf("\n[%s%s", stem, family ? "" : "]\n");
    g_autofree char *member = g_strdup_printf("\n#%s", head + 1); /* where the keys of a family are, if it is there */
    g_autofree char *part = part_of(text, strstr(text, member) ? member : head, "\n\n#[");
    g_assert_nonnull(part);
    g_autofree char *comment = comment_before(part, key->name);
    g_autofree char *fallback = key->fallback ? shown(key->fallback) : g_strdup("none");
    g_autofree char *expected = g_strdup_printf(" Default: %s.", fallback);
    g_autofree char *unit = g_strdup_printf(" Unit: %s.", key->unit);
    g_test_message("%s: %s", key->name, comment);
    g_assert_nonnull(comment);
    g_assert_nonnull(strstr(comment, key->about));
    g_assert_true(g_str_has_suffix(comment, expected));
    g_assert_true(!key->unit || strstr(comment, unit));
    if (!key->fallback || strchr(key->fallback, '{'))
        return; /* the line is an example */
    g_autofree char *line = g_strdup_printf("\n#%s = %s\n", key->name, fallback);
    g_assert_nonnull(strstr(part, line));
}

static void test_example(void)
{
    g_autofree char *text = tree_file("etc/listrunner.conf");
    for (const ConfigKey *key = config_schema; text && key->section; key++)
        check_example_key(text, key);
    for (const ConfigOverride *override = config_overrides; text && override->section; override++) {
        g_autofree char *lines = g_strdup_printf("\n[%s]\n#%s = %s\n", override->section, override->name,
                                                 override->fallback);
        g_assert_true(!override->fallback || strstr(text, lines));
    }
}

/* As it is, and with every key taken out of its comment. */
static void test_example_parses(void)
{
    g_autofree char *text = tree_file("etc/listrunner.conf");
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
    g_string_replace(named, "the system's host name", "lists.example.org", 0);
    g_autoptr(Config) all = accept(named->str);
    for (const ConfigKey *key = config_schema; key->section; key++) {
        g_autoptr(GString) section = g_string_new(key->section);
        g_string_replace(section, "transport.*", "transport.relay", 0);
        g_string_replace(section, "*", "count", 0);
        const ConfigSection *found = config_section(all, section->str);
        g_assert_nonnull(found);
        g_assert_cmpint(config_section_value(found, key->name)->line, >, 0);
    }
}

static void test_man_page(void)
{
    g_autofree char *text = tree_file("doc/listrunner.conf.5");
    for (const ConfigKey *key = config_schema; text && key->section; key++) {
        g_autoptr(GString) head = g_string_new(NULL);
        g_string_printf(head, ".Ss [%s]\n", key->section);
        g_string_replace(head, "*", "NAME", 0);
        g_autofree char *part = part_of(text, head->str, "\n.El\n");
        g_assert_nonnull(part);
        g_autofree char *fallback = key->fallback ? shown(key->fallback) : NULL;
        g_autofree char *line = g_strdup_printf("\n.It Cm %s%s%s\n", key->name, fallback ? " No = " : "",
                                                fallback ? fallback : "");
        g_autofree char *item = part_of(part, line, "\n.It ");
        g_test_message("%s", line);
        g_assert_nonnull(item);
        g_strdelimit(item, "\n", ' ');
        g_assert_nonnull(strstr(item, key->about));
        g_autofree char *unit = g_strdup_printf(" Unit: %s.", key->unit);
        g_assert_true(!key->unit || strstr(item, unit));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    place = g_dir_make_tmp("config-XXXXXX", NULL);
    g_test_add_func("/config/example", test_example);
    g_test_add_func("/config/example-parses", test_example_parses);
    g_test_add_func("/config/man-page", test_man_page);
    int result = g_test_run();
    g_rmdir(place);
    g_free(place);
    return result;
}
