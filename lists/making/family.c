/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/making/family.h"

#include <string.h>

#include "base/fail.h"
#include "lists/change.h"
#include "lists/making/style.h"
#include "lists/making/style_config.h"
#include "store/lists/list_setting.h"

/* The values that the list's family allows (of char *, as list_get() writes them), the one first that its section has;
 * g_ptr_array_unref(). *allowed is NULL where any may be. */
static bool find_allowed(const Config *config, const List *list, const ListSetting *setting, GPtrArray **allowed,
                         GError **error)
{
    g_autofree char *section = g_strconcat(STYLE_FAMILY ".", list->settings->family, NULL);
    g_autofree char *limits = NULL;
    *allowed = NULL;
    if (!*list->settings->family || !style_is_family(config, list->settings->family) ||
        (!style_fixes(config, section, setting->name) && !(limits = style_limits(config, section, setting->name))))
        return true;
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *own = style_setting(config, list->settings->family, setting, list->list_name, error);
    if (!own)
        return false;
    g_auto(GStrv) choices = limits ? g_strsplit(limits, "|", -1) : NULL;
    for (char **choice = choices; choice && *choice; choice++) {
        char *value = list_setting_canonical(setting, *choice, error);
        if (!value)
            return false;
        g_ptr_array_add(values, value);
    }
    if (!limits || g_ptr_array_find_with_equal_func(values, own, g_str_equal, NULL))
        g_ptr_array_insert(values, 0, g_steal_pointer(&own));
    *allowed = g_steal_pointer(&values);
    return true;
}

bool family_allows(const Config *config, const List *list, const ListSetting *setting, const char *value,
                   GError **error)
{
    GPtrArray *found;
    if (*list->settings->family && style_may_fix(setting) && strcmp(setting->name, "emergency") != 0 &&
        !style_is_family(config, list->settings->family))
        return fail(error, FAIL_NEVER,
                    "%s: the list belongs to the family %s, and the configuration has no section [style.%s] with fixed "
                    "or limited settings: an administrator has to put that back, or to detach the list (listrunner "
                    "list set %s family=)",
                    setting->name, list->settings->family, list->settings->family, list->posting_address);
    if (!find_allowed(config, list, setting, &found, error))
        return false;
    g_autoptr(GPtrArray) allowed = found;
    if (!allowed || g_ptr_array_find_with_equal_func(allowed, value, g_str_equal, NULL))
        return true;
    g_autofree char *section = g_strconcat(STYLE_FAMILY ".", list->settings->family, NULL);
    if (style_fixes(config, section, setting->name))
        return fail(error, FAIL_NEVER, "%s: it is fixed by the family %s, to which the list belongs", setting->name,
                    list->settings->family);
    g_autofree char *limits = style_limits(config, section, setting->name);
    return fail(error, FAIL_NEVER, "%s: the family %s, to which the list belongs, allows %s alone", setting->name,
                list->settings->family, limits);
}

static void difference_free(void *data)
{
    FamilyDifference *difference = data;
    g_free(difference->before);
    g_free(difference->after);
    g_free(difference);
}

GPtrArray *family_differences(const Config *config, const List *list, GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(difference_free);
    for (const ListSetting *setting = list_settings; setting->name; setting++) {
        GPtrArray *found;
        if (!find_allowed(config, list, setting, &found, error))
            return NULL;
        g_autoptr(GPtrArray) allowed = found;
        g_autofree char *before = allowed ? list_get(list, setting->name, error) : NULL;
        if (allowed && !before)
            return NULL;
        if (!allowed || g_ptr_array_find_with_equal_func(allowed, before, g_str_equal, NULL))
            continue;
        FamilyDifference *one = g_new0(FamilyDifference, 1);
        *one = (FamilyDifference){setting, g_steal_pointer(&before), g_strdup(allowed->pdata[0])};
        g_ptr_array_add(all, one);
    }
    return g_steal_pointer(&all);
}

bool family_apply(Work *work, const List *list, const GPtrArray *differences, GError **error)
{
    for (guint at = 0; at < differences->len; at++) {
        const FamilyDifference *one = differences->pdata[at];
        if (!change_setting(work, list, one->setting->name, one->after, error))
            return false;
    }
    return true;
}
