/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/setting_check.h"

#include <string.h>

#include "base/fail.h"
#include "store/list.h"

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
        g_autofree char *known = g_strjoinv(", ", (char **)(uintptr_t)config_family(config, family));
        return fail(error, FAIL_NEVER, "%s: there is no [%s] in the configuration; %s%s", setting, section,
                    *known ? "there are: " : "there is none of its kind", known);
    }
    return true;
}
