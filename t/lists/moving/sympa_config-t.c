/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The config of a list of Sympa. */
#include <string.h>

#include "lists/moving/sympa_config.h"
#include "t/suite.h"

static void note(unsigned line, const char *text, void *data)
{
    g_string_append_printf(data, "!%u %s|", line, text);
}

/* All that is found in one line, with faults before it. g_free() */
static char *said(const char *octets, size_t length)
{
    GString *line = g_string_new(NULL);
    g_autoptr(GPtrArray) config = sympa_config_read(octets, length, note, line);
    for (guint i = 0; i < config->len; i++) {
        const SympaParagraph *paragraph = config->pdata[i];
        g_string_append_printf(line, "%u %s=%s", paragraph->line, paragraph->name, paragraph->value);
        for (guint j = 0; j < paragraph->entries->len; j++) {
            const SympaEntry *entry = paragraph->entries->pdata[j];
            g_string_append_printf(line, ",%u %s=%s", entry->line, entry->key, entry->value);
        }
        g_string_append_c(line, '|');
    }
    return g_string_free(line, FALSE);
}

static void test_cases(void)
{
    static const struct {
        const char *config, *says;
    } cases[] = {
        {"", ""},
        {"\n \n\t\r\n", ""},
        {"subject The choir\n\nsend private\n", "1 subject=The choir|3 send=private|"},
        {"subject   The choir \r\n\r\nlang de", "1 subject=The choir|3 lang=de|"},
        {"owner\n  email a@b.example\n\tgecos  Jo Doe\n\neditor\nemail c@d.example\n",
         "1 owner=,2 email=a@b.example,3 gecos=Jo Doe|5 editor=,6 email=c@d.example|"},
        {"# a comment\nsubject x\n# another\n\n#alone\n\nsend y\n", "2 subject=x|7 send=y|"},
        {"subject a\nlang de\n", "1 subject=a,2 lang=de|"},
        {"dkim.x 1\n", "1 dkim.x=1|"},
        {"=bad\nsend private\n\nlang de\n",
         "!1 the line does not begin with a name|!2 the paragraph does not begin with a name|4 lang=de|"},
        {"owner\n??\nemail a@b.example\n", "!2 the line does not begin with a name|1 owner=,3 email=a@b.example|"},
        {"subject caf\xe9\n", "1 subject=caf\xef\xbf\xbd|"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *says = said(cases[i].config, strlen(cases[i].config));
        g_assert_cmpstr(says, ==, cases[i].says);
    }
    static const char zero[] = "subject a\0b\n\nlang de\n";
    g_autofree char *says = said(zero, sizeof zero - 1);
    g_assert_cmpstr(says, ==, "!1 the line has a zero byte|3 lang=de|");
}

static void test_long_lines(void)
{
    static const char begin[] = "subject ";
    for (size_t more = 0; more < 2; more++) {
        g_autofree char *value = g_strnfill(SYMPA_LINE_MAX - strlen(begin) + more, 'x');
        g_autofree char *config = g_strconcat(begin, value, "\n\nlang de\n", NULL);
        g_autofree char *says = said(config, strlen(config));
        g_autofree char *whole = g_strconcat("1 subject=", value, "|3 lang=de|", NULL);
        g_assert_cmpstr(says, ==, more ? "!1 the line is too long|3 lang=de|" : whole);
    }
}

static void test_find(void)
{
    static const char text[] = "Owner\nemail a@b.example\nemail second@b.example\n\nowner\nemail c@d.example\n";
    g_autoptr(GString) faults = g_string_new(NULL);
    g_autoptr(GPtrArray) config = sympa_config_read(text, strlen(text), note, faults);
    const SympaParagraph *owner = sympa_config_find(config, "owner");
    g_assert_true(owner == config->pdata[0]);
    g_assert_cmpstr(sympa_config_value(owner, "email"), ==, "a@b.example");
    g_assert_null(sympa_config_value(owner, "gecos"));
    g_assert_null(sympa_config_find(config, "editor"));
    g_assert_null(sympa_config_value(NULL, "email"));
}

SUITE("moving/sympa_config")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sympa_config/paragraphs", test_cases);
    g_test_add_func("/sympa_config/long lines", test_long_lines);
    g_test_add_func("/sympa_config/find", test_find);
    return g_test_run();
}
