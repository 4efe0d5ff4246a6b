/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /lists/{list}/archivers: which archivers get the list's posts. */
#include <string.h>

#include "base/fail.h"
#include "lists/change.h"
#include "lists/making/setting_check.h"
#include "runners/rest/resources.h"
#include "store/lists/list_setting.h"

/* Return the archivers that are configured and enabled, in order. */
static GPtrArray *known(const Call *call)
{
    GPtrArray *names = g_ptr_array_new();
    const Config *config = call->rest->config;
    for (const char *const *name = config_family(config, "archiver"); *name; name++) {
        g_autofree char *section = g_strconcat("archiver.", *name, NULL);
        if (config_bool(config, section, "enabled"))
            g_ptr_array_add(names, (char *)*name);
    }
    return names;
}

static bool is_on(const List *list, const char *name)
{
    return !list->settings->archivers || !*list->settings->archivers ||
           g_strv_contains((const char *const *)list->settings->archivers, name);
}

static void get(Call *call)
{
    g_autoptr(List) list = rest_list(call);
    if (!list)
        return;
    g_autoptr(GPtrArray) names = known(call);
    json_t *object = json_object();
    for (guint i = 0; i < names->len; i++)
        json_object_set_new(object, names->pdata[i], json_boolean(is_on(list, names->pdata[i])));
    answer_json(call, 200, object);
}

/* Are all names known, and with PUT, sent? False: 400 was answered. */
static bool allowed(Call *call, const GPtrArray *names)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(text, "%s%s", i ? " " : "", (const char *)names->pdata[i]);
    return form_expect_change(call, text->str);
}

/* The list's setting, written out: with the setting empty, all that are configured; without "none". */
static GPtrArray *names_on(const Call *call, const List *list)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    bool all = !list->settings->archivers || !*list->settings->archivers;
    const char *const *name = all ? config_family(call->rest->config, "archiver")
                                  : (const char *const *)list->settings->archivers;
    for (; *name; name++)
        if (strcmp(*name, ARCHIVERS_NONE) != 0)
            g_ptr_array_add(names, g_strdup(*name));
    return names;
}

/* Turns on and off those that the form names. Archivers that are disabled or not configured stay as they are, and a
 * form that changes nothing leaves the setting alone, so that an empty one goes on to cover archivers of the future. */
static void change(Call *call)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) names = known(call);
    g_autoptr(Work) work = allowed(call, names) ? rest_begin(call) : NULL;
    g_autoptr(List) list = work ? rest_list(call) : NULL;
    if (!list)
        return;
    g_autoptr(GPtrArray) on = names_on(call, list);
    bool changed = false;
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        bool before = is_on(list, name), wanted = before;
        guint at;
        if (!form_bool(call, name, &wanted))
            return;
        changed |= wanted != before;
        if (wanted && !before)
            g_ptr_array_add(on, g_strdup(name));
        else if (!wanted && g_ptr_array_find_with_equal_func(on, name, g_str_equal, &at))
            g_ptr_array_remove_index(on, at);
    }
    if (!changed) {
        answer_empty(call, 204);
        return;
    }
    if (on->len == 0)
        g_ptr_array_add(on, g_strdup(ARCHIVERS_NONE));
    g_ptr_array_add(on, NULL);
    g_autofree char *value = g_strjoinv(",", (char **)on->pdata);
    rest_finish(call, work, change_setting(work, list, "archivers", value, &error), &error);
}

/* Names of archivers. */
static const RestField fields[] = {
    {"*", MAY_LIST, MAY_LIST},
    {0},
};

const RestRoute rest_archivers[] = {
    {"GET", "lists/{list}/archivers", OF_LIST, MAY_LIST, fields, get, NULL},
    {"PATCH", "lists/{list}/archivers", OF_LIST, MAY_LIST, fields, change, NULL},
    {"PUT", "lists/{list}/archivers", OF_LIST, MAY_LIST, fields, change, NULL},
    {0},
};
