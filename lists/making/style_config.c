/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The sections [style.NAME]: each value is checked as "listrunner list set" checks it, when the configuration is read.
 * For that the table of list settings (store/lists/list_setting.c) is in the library below all others, with the tables
 * of the configuration.
 */
#include "lists/making/style_config.h"

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
    {STYLE_FIXED, LIST(NULL),
     .about = "Settings that lists made in this style may not change: they have the values of this section, else of "
      "its base, else the defaults. With this key, or limited, the style is a family; \"listrunner list family apply\" "
      "brings its lists to a section that was changed.",
     .example = "archive_policy, subscription_policy"},
    {STYLE_LIMITED, LIST(NULL),
     .about = "Settings that such lists may change to some values alone, each as NAME=VALUE|VALUE. A list that has "
      "another value gets the one of this section if it is among them, else the first.",
     .example = "default_member_action=defer|hold, max_message_size=40|100"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {STYLE_FAMILY ".*",
     .about = "One section a style: what settings a new list begins with. Besides these keys it has those of "
      "listrunner-list(5); a value may stand in double quotes, and \\n begins a new line in texts.",
     .keys = keys, .any_keys = true, .readers = "rest web"},
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

bool style_fixes(const Config *config, const char *section, const char *setting)
{
    return g_strv_contains(config_list(config, section, STYLE_FIXED), setting);
}

char *style_limits(const Config *config, const char *section, const char *setting)
{
    const size_t length = strlen(setting);
    for (const char *const *word = config_list(config, section, STYLE_LIMITED); *word; word++)
        if (strncmp(*word, setting, length) == 0 && (*word)[length] == '=')
            return g_strdup(*word + length + 1);
    return NULL;
}

bool style_is_family(const Config *config, const char *name)
{
    g_autofree char *section = g_strconcat(STYLE_FAMILY ".", name, NULL);
    return config_has_section(config, section) &&
           (*config_list(config, section, STYLE_FIXED) || *config_list(config, section, STYLE_LIMITED));
}

bool style_may_fix(const ListSetting *setting)
{
    return setting->type != SETTING_PASSWORD && strcmp(setting->name, "family") != 0;
}

static const ListSetting *check_named(const ConfigCheck *check, const char *section, const char *key, const char *name)
{
    const ListSetting *setting = list_setting_find(name, NULL);
    if (setting && style_may_fix(setting))
        return setting;
    config_complain(check, section, key,
                    "found \"%s\"; allowed are names of list settings of listrunner-list(5), except "
                    "passwords and family",
                    name);
    return NULL;
}

static void check_limit(const ConfigCheck *check, const char *section, const char *word)
{
    const char *equals = strchr(word, '=');
    g_autofree char *name = equals ? g_strndup(word, (gsize)(equals - word)) : g_strdup(word);
    const ListSetting *setting = check_named(check, section, STYLE_LIMITED, name);
    g_auto(GStrv) values = g_strsplit(equals ? equals + 1 : "", "|", -1);
    if (setting && !equals)
        config_complain(check, section, STYLE_LIMITED, "found \"%s\"; allowed is NAME=VALUE|VALUE", word);
    if (setting && style_fixes(check->config, section, name))
        config_complain(check, section, STYLE_LIMITED, "found %s, which is fixed, too; name it once", name);
    for (char **value = values; setting && *value; value++) {
        g_autoptr(GError) fault = NULL;
        g_autofree char *kept = list_setting_canonical(setting, *value, &fault);
        if (!kept)
            config_complain(check, section, STYLE_LIMITED, "found a value that no list can have: %s", fault->message);
    }
}

static void check_style(const ConfigCheck *check, const char *section)
{
    for (const char *const *name = config_list(check->config, section, STYLE_FIXED); *name; name++)
        check_named(check, section, STYLE_FIXED, *name);
    for (const char *const *word = config_list(check->config, section, STYLE_LIMITED); *word; word++)
        check_limit(check, section, *word);
    g_auto(GStrv) names = config_extra_names(check->config, section);
    for (char **name = names; *name; name++) {
        g_autoptr(GError) fault = NULL;
        const ListSetting *setting = strcmp(*name, "family") == 0 ? NULL : list_setting_find(*name, NULL);
        if (!setting) {
            config_complain(check, section, *name,
                            "found an unknown key; allowed are about, base, fixed, limited, and "
                            "the list settings of listrunner-list(5) but family");
            continue;
        }
        g_autofree char *value = style_value(setting, config_extra(check->config, section, *name));
        g_autofree char *kept = list_setting_canonical(setting, value, &fault);
        if (!kept) {
            config_complain(check, section, *name, "found a value that no list can have: %s", fault->message);
            continue;
        }
        /* A transport or an archiver must be in the same configuration. */
        const char *family = strcmp(*name, "transport") == 0   ? "transport"
                             : strcmp(*name, "archivers") == 0 ? "archiver"
                                                               : NULL;
        g_auto(GStrv) words = g_strsplit_set(family ? kept : "", ", ", -1);
        for (char **word = words; *word; word++) {
            g_autofree char *named = g_strdup_printf("%s.%s", family, *word);
            if (**word && !config_has_section(check->config, named))
                config_complain(check, section, *name, "found \"%s\"; allowed is the NAME of a section [%s.NAME]",
                                *word, family);
        }
    }
}

static void check(const ConfigCheck *check)
{
    g_autofree const char **sections = config_family_sections(check->config, STYLE_FAMILY);
    for (const char **section = sections; *section; section++)
        check_style(check, *section);
}

const ConfigSettings style_settings = {.tables = tables, .check = check};
