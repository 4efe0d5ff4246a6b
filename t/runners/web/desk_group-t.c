/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/desk_group.h"

#include "store/lists/list_setting.h"
#include "t/suite.h"

static void test_each_setting_once(void)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (const DeskGroup *group = desk_groups; group->path; group++) {
        g_auto(GStrv) names = desk_group_names(group);
        for (char **name = names; *name; name++) {
            g_assert_nonnull(list_setting_find(*name, NULL));
            if (!g_hash_table_add(seen, g_strdup(*name)))
                g_error("%s is in two groups", *name);
        }
    }
    for (const ListSetting *setting = list_settings; setting->name; setting++)
        if (!g_hash_table_contains(seen, setting->name))
            g_error("%s is in no group", setting->name);
}

static void test_find(void)
{
    g_assert_cmpstr(desk_group_find("joining")->path, ==, "joining");
    g_assert_null(desk_group_find("other"));
}

SUITE("web/desk_group")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/desk_group/each setting once", test_each_setting_once);
    g_test_add_func("/desk_group/find", test_find);
    return g_test_run();
}
