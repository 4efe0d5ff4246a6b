/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The sections [style.NAME]: each value is checked as "listrunner list set" checks it, when the configuration is read.
 * For that the table of list settings (store/list_setting.c) is in the library below all others, with the tables of the
 * configuration.
 */
#include "lists/style_config.h"

#include <string.h>

#include "base/config_check.h"
#include "base/config_table.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"about", STRING(NULL),
     .about = "A line about the style, for who chooses one.",
     .example = "News of the department, with monthly digests"},
    {"base", CHOICE(NULL, "discussion|announce|private"),
     .about = "The built-in style whose settings count where this section says nothing. Unset: discussion, or in the "
      "section of a built-in style that one.",
     .example = "announce"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {STYLE_FAMILY ".*",
     .about = "One section a style: what settings a new list begins with. Besides these keys it has those of "
      "listrunner-list(5); a value may stand in double quotes, and \\n begins a new line in texts.",
     .keys = keys, .any_keys = true, .readers = "rest"},
    {.section = NULL},
};
/* clang-format on */

char *style_value(const ListSetting *setting, const char *text)
{
    size_t length = strlen(text);
    bool quoted = length >= 2 && text[0] == '"' && text[length - 1] == '"';
    g_autoptr(GString) value = g_string_new_len(quoted ? text + 1 : text, (gssize)(quoted ? length - 2 : length));
    if (setting->type == SETTING_TEXT)
        g_string_replace(value, "\\n", "\n", 0);
    return g_string_free(g_steal_pointer(&value), FALSE);
}

/* A transport or an archiver must be in the same configuration. */
static void check_family(const ConfigCheck *check, const char *section, const char *key, const char *value)
{
    const char *family = strcmp(key, "transport") == 0   ? "transport"
                         : strcmp(key, "archivers") == 0 ? "archiver"
                                                         : NULL;
    g_auto(GStrv) words = g_strsplit_set(family ? value : "", ", ", -1);
    for (char **word = words; *word; word++) {
        g_autofree char *named = g_strdup_printf("%s.%s", family, *word);
        if (**word && !config_has_section(check->config, named))
            config_complain(check, section, key, "found \"%s\"; allowed is the NAME of a section [%s.NAME]", *word,
                            family);
    }
}

static void check_style(const ConfigCheck *check, const char *section)
{
    g_auto(GStrv) names = config_extra_names(check->config, section);
    for (char **name = names; *name; name++) {
        g_autoptr(GError) fault = NULL;
        const ListSetting *setting = list_setting_find(*name, NULL);
        if (!setting) {
            config_complain(check, section, *name, "found an unknown key; allowed are about, base, and the list "
                            "settings of listrunner-list(5)");
            continue;
        }
        g_autofree char *value = style_value(setting, config_extra(check->config, section, *name));
        g_autofree char *kept = list_setting_canonical(setting, value, &fault);
        if (kept)
            check_family(check, section, *name, kept);
        else
            config_complain(check, section, *name, "found a value that no list can have: %s", fault->message);
    }
}

static void check(const ConfigCheck *check)
{
    g_autofree const char **sections = config_family_sections(check->config, STYLE_FAMILY);
    for (const char **section = sections; *section; section++)
        check_style(check, *section);
}

const ConfigSettings style_settings = {.tables = tables, .check = check};
