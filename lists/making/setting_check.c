/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/making/setting_check.h"

#include <string.h>

#include "base/fail.h"
#include "lists/making/style_config.h"
#include "store/lists/list.h"

bool setting_check(const Config *config, const char *setting, const char *value, GError **error)
{
    bool ordered = g_str_has_suffix(setting, "_chain") || g_str_has_suffix(setting, "_pipeline");
    bool several = strcmp(setting, "archivers") == 0;
    const char *family = strcmp(setting, "transport") == 0        ? "transport"
                         : several                                ? "archiver"
                         : g_str_has_suffix(setting, "_chain")    ? "chain"
                         : g_str_has_suffix(setting, "_pipeline") ? "pipeline"
                                                                  : NULL;
    const ListSetting *row = list_setting_find(setting, error);
    if (row && strcmp(setting, "family") == 0 && *value && !style_is_family(config, value))
        return fail(error, FAIL_NEVER,
                    "%s: there is no section [style.%s] with fixed or limited settings in the "
                    "configuration",
                    setting, value);
    if (!row || !family)
        return row != NULL;
    if (strcmp(value, row->fallback) == 0) /* a chain or pipeline that is built in */
        return true;
    if (!*value && ordered)
        return fail(error, FAIL_NEVER, "%s: the name of a [%s.NAME] is missing", setting, family);
    g_auto(GStrv) words = g_strsplit_set(value, several ? ",\r\n" : "", -1);
    for (char **word = words; *word; word++) {
        const char *name = g_strstrip(*word);
        g_autofree char *section = g_strdup_printf("%s.%s", family, name);
        if (!*name || config_has_section(config, section) || (several && strcmp(name, ARCHIVERS_NONE) == 0))
            continue;
        /* The one that is built in, and those of the configuration. */
        g_autoptr(GString) known = g_string_new(row->fallback);
        for (const char *const *one = config_family(config, family); *one; one++)
            g_string_append_printf(known, "%s%s", known->len > 0 ? ", " : "", *one);
        return fail(error, FAIL_NEVER, "%s: there is no [%s] in the configuration; allowed: %s", setting, section,
                    known->len > 0 ? known->str : "nothing, until there is one");
    }
    return true;
}

GPtrArray *setting_check_families(Store *store, const Config *config, GError **error)
{
    GPtrArray *named = list_named(store, "family", error);
    for (guint at = named ? named->len : 0; at > 0; at--)
        if (style_is_family(config, ((const ListNamed *)named->pdata[at - 1])->value))
            g_ptr_array_remove_index(named, at - 1);
    return named;
}
