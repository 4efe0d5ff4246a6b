/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/making/family_section.h"

#include "lists/making/style_config.h"

bool family_section_exists(const Config *config, const char *name)
{
    g_autofree char *section = g_strconcat(STYLE_FAMILY ".", name, NULL);
    return config_has_section(config, section) &&
           (*config_list(config, section, STYLE_FIXED) || *config_list(config, section, STYLE_LIMITED));
}

GPtrArray *family_section_gone(Store *store, const Config *config, GError **error)
{
    GPtrArray *named = list_named(store, "family", error);
    for (guint at = named ? named->len : 0; at > 0; at--)
        if (family_section_exists(config, ((const ListNamed *)named->pdata[at - 1])->value))
            g_ptr_array_remove_index(named, at - 1);
    return named;
}
