/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/transport.h"

#include "store/lists/list_setting.h"

char *transport_section(const Config *config, const char *transport)
{
    if (!transport || !*transport)
        transport = config_string(config, "out", "default_transport");
    g_autofree char *section = g_strconcat("transport.", transport, NULL);
    return config_has_section(config, section) ? g_steal_pointer(&section) : NULL;
}

bool transport_defragments(const Config *config, const List *list)
{
    if (list->settings->defragment != DEFRAGMENT_DEFAULT)
        return list->settings->defragment == DEFRAGMENT_ON;
    g_autofree char *section = transport_section(config, list->settings->transport);
    return section && config_bool(config, section, "defragment");
}
