/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/config_table.h"

#include <string.h>

const ConfigTable *config_table(unsigned at)
{
    for (const ConfigSettings *const *settings = config_settings; *settings; settings++)
        for (const ConfigTable *table = (*settings)->tables; table && table->section; table++)
            if (at-- == 0)
                return table;
    return NULL;
}

const ConfigMember *config_member(unsigned at)
{
    for (const ConfigSettings *const *settings = config_settings; *settings; settings++)
        for (const ConfigMember *member = (*settings)->members; member && member->section; member++)
            if (at-- == 0)
                return member;
    return NULL;
}

bool config_table_covers(const ConfigTable *table, const char *section)
{
    size_t stem = strlen(table->section) - 1;
    if (table->section[stem] != '*')
        return g_str_equal(table->section, section);
    return strncmp(table->section, section, stem) == 0;
}

const char *config_fallback(const ConfigKey *key, const char *section)
{
    const ConfigMember *member;
    for (unsigned i = 0; (member = config_member(i)); i++) {
        const ConfigDefault *own = g_str_equal(member->section, section) ? member->defaults : NULL;
        for (; own && own->name; own++)
            if (g_str_equal(own->name, key->name))
                return own->fallback;
    }
    return key->fallback;
}

char *config_unconfined(const Config *config, const char *runner)
{
    g_autofree char *section = g_strconcat("runner.", runner, NULL);
    if (!config_bool(config, "master", "confine"))
        return g_strdup("[master] confine");
    if (config_has_section(config, section) && !config_bool(config, section, "confine"))
        return g_strdup_printf("[%s] confine", section);
    for (const ConfigSettings *const *settings = config_settings; *settings; settings++) {
        char *setting = (*settings)->program ? (*settings)->program(config, runner) : NULL;
        if (setting)
            return setting;
    }
    return NULL;
}

bool config_read_by(const char *readers, const char *runner)
{
    g_auto(GStrv) names = g_strsplit(readers ? readers : "", " ", -1);
    return g_strv_contains((const char *const *)names, "*") || g_strv_contains((const char *const *)names, runner);
}
