/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/making/style.h"

#include <string.h>

#include "base/fail.h"
#include "lists/making/style_config.h"
#include "store/lists/list.h"

/* Unlike Mailman's, announce holds members' posts. */
static const struct {
    Style style;
    const char *settings[8]; /* name, value, ... */
} built_in[] = {
    {{"discussion", "legacy-default", "Everybody on the list may write to it.",
      "Ordinary discussion mailing list style."},
     {NULL}},
    {{"announce", "legacy-announce", "Few write, many read: posts of members are held.",
      "Announce only mailing list style."},
     {"allow_list_posts", "no", "default_member_action", "hold", NULL}},
    {{"private", "private-default",
      "A discussion that is not advertised; moderators let people in, and only members read the archive.",
      "Discussion mailing list style with private archives."},
     {"advertised", "no", "archive_policy", "private", "subscription_policy", "confirm_then_moderate", NULL}},
};

/* The number of a built-in style by either name; -1: it is none. */
static int built_in_find(const char *name)
{
    for (size_t at = 0; at < G_N_ELEMENTS(built_in); at++)
        if (strcmp(built_in[at].style.name, name) == 0 || strcmp(built_in[at].style.mailman_name, name) == 0)
            return (int)at;
    return -1;
}

static char *section_of(const char *name)
{
    return g_strconcat(STYLE_FAMILY ".", name, NULL);
}

static const char *about_of(const Config *config, const char *name, const char *otherwise)
{
    g_autofree char *section = section_of(name);
    const char *about = config_has_section(config, section) ? config_string(config, section, "about") : NULL;
    return about ? about : otherwise;
}

Style *style_all(const Config *config)
{
    g_autoptr(GArray) all = g_array_new(TRUE, TRUE, sizeof(Style));
    for (size_t at = 0; at < G_N_ELEMENTS(built_in); at++) {
        Style style = built_in[at].style;
        style.about = about_of(config, style.name, style.about);
        if (style.about != built_in[at].style.about)
            style.mailman_about = style.about;
        g_array_append_val(all, style);
    }
    for (const char *const *name = config_family(config, STYLE_FAMILY); *name; name++) {
        const char *about = about_of(config, *name, "A style of this site.");
        const Style style = {*name, *name, about, about};
        if (built_in_find(*name) < 0)
            g_array_append_val(all, style);
    }
    return (Style *)g_array_free(g_steal_pointer(&all), FALSE);
}

char *style_setting(const Config *config, const char *style, const ListSetting *setting, const char *list_name,
                    GError **error)
{
    g_autofree char *section = section_of(style), *fallback = list_setting_fallback(setting, list_name);
    const char *text = config_extra(config, section, setting->name), *base = config_string(config, section, "base");
    g_autofree char *own = text ? style_value(setting, text) : NULL;
    const char *value = own ? own : fallback;
    const int under = MAX(built_in_find(base ? base : style), 0);
    for (const char *const *pair = built_in[under].settings; !own && *pair; pair += 2)
        if (strcmp(pair[0], setting->name) == 0)
            value = pair[1];
    return list_setting_canonical(setting, value, error);
}

bool style_apply(Work *work, const char *list_id, const char *style, GError **error)
{
    Store *store = work_store(work);
    const Config *config = work_site(work)->config;
    int number = style ? built_in_find(style) : 0;
    g_autofree char *section = section_of(number >= 0 ? built_in[number].style.name : style);
    bool has_section = config_has_section(config, section);
    if (number < 0 && !has_section) {
        g_autofree Style *all = style_all(config);
        g_autoptr(GString) there = g_string_new(NULL);
        for (const Style *one = all; one->name; one++)
            g_string_append_printf(there, "%s%s", there->len ? ", " : "", one->name);
        g_autofree char *shown = g_utf8_make_valid(style, -1);
        return fail(error, FAIL_NEVER, "there is no style \"%s\"; there are: %s", shown, there->str);
    }

    /* The built-in style counts where the section says nothing. */
    const char *base = has_section ? config_string(config, section, "base") : NULL;
    if (base)
        number = built_in_find(base);
    for (const char *const *pair = built_in[MAX(number, 0)].settings; *pair; pair += 2)
        if (!list_set(store, list_id, pair[0], pair[1], error))
            return false;
    if (!has_section)
        return true;
    g_auto(GStrv) names = config_extra_names(config, section);
    for (char **name = names; *name; name++) {
        const ListSetting *setting = list_setting_find(*name, error);
        g_autofree char *value = setting ? style_value(setting, config_extra(config, section, *name)) : NULL;
        if (!value || !list_set(store, list_id, *name, value, error)) {
            g_prefix_error(error, "[%s] ", section);
            return false;
        }
    }
    const char *family = section + strlen(STYLE_FAMILY ".");
    return !style_is_family(config, family) || list_set(store, list_id, "family", family, error);
}
