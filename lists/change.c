/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/change.h"

#include <string.h>

#include "base/fail.h"
#include "lists/making/family.h"
#include "lists/making/setting_check.h"
#include "lists/people/ban.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"

bool change_log(Work *work, const char *list_id, const Change *change, GError **error)
{
    static const char *const doors[] = {[DOOR_MAIL] = "mail",
                                        [DOOR_REST] = "rest",
                                        [DOOR_PAGE] = "page",
                                        [DOOR_SHELL] = "shell",
                                        [DOOR_TIMER] = "timer"};
    const Actor *actor = work_actor(work);
    const bool known = actor->address && *actor->address; /* a mail may have no sender */
    const char *by = known ? actor->address : actor->name ? actor->name : work_by(work);
    ListLogRow row = {.made_at = work_now(work),
                      .door = (char *)(uintptr_t)doors[actor->door],
                      .by = (char *)(uintptr_t)by,
                      .kind = (char *)(uintptr_t)change->kind,
                      .name = (char *)(uintptr_t)change->name,
                      .before = (char *)(uintptr_t)change->before,
                      .after = (char *)(uintptr_t)change->after};
    return list_log_add(work_store(work), list_id, &row, error);
}

/* A password is never shown, so its change has no values. */
static bool log_setting(Work *work, const List *list, const ListSetting *setting, const char *before, GError **error)
{
    const bool hidden = setting->type == SETTING_PASSWORD;
    g_autoptr(List) now = list_by_id(work_store(work), list->list_id, error);
    g_autofree char *after = now ? list_get(now, setting->name, error) : NULL;
    if (!after)
        return false;
    if (!hidden && strcmp(before, after) == 0)
        return true;
    work_log(work, list->list_id, "setting=%s by=<%s> result=changed", setting->name, work_by(work));
    return change_log(work, list->list_id,
                      &(Change){LOG_SETTING, setting->name, hidden ? NULL : before, hidden ? NULL : after}, error);
}

/* A value that stays is no change. */
static bool check_family(const Config *config, const List *list, const ListSetting *setting, const char *value,
                         GError **error)
{
    if (!*list->settings->family)
        return true;
    g_autofree char *fallback = value ? NULL : list_setting_fallback(setting, list->list_name);
    g_autofree char *after = list_setting_canonical(setting, value ? value : fallback, error);
    g_autofree char *before = after ? list_get(list, setting->name, error) : NULL;
    return before && (strcmp(before, after) == 0 || family_allows(config, list, setting, after, error));
}

/* Is there each list that a word "@LIST" of the value names, but for words that stood there before? */
static bool check_named_lists(Work *work, const ListSetting *setting, const char *before, const char *value,
                              GError **error)
{
    if (setting->type != SETTING_WORDS || !strchr(value, '@'))
        return true;
    g_auto(GStrv) there = g_strsplit_set(before, ",\n", -1), words = g_strsplit_set(value, ",\r\n", -1);
    for (char **word = words; *word; word++) {
        g_autoptr(GError) why = NULL;
        if (*g_strstrip(*word) != '@' || g_strv_contains((const char *const *)there, *word))
            continue;
        g_autoptr(List) named = list_find(work_store(work), *word + 1, &why);
        if (!named && (g_error_matches(why, FAIL, FAIL_MISSING) || g_error_matches(why, FAIL, FAIL_NEVER)))
            return fail(error, FAIL_NEVER,
                        "%s: there is no list %s; allowed behind @ is the address or the List-Id of a list of this "
                        "site, whose members are meant",
                        setting->name, *word + 1);
        if (!named)
            return fail_with(error, &why);
    }
    return true;
}

bool change_setting(Work *work, const List *list, const char *name, const char *value, GError **error)
{
    Store *store = work_store(work);
    const Config *config = work_site(work)->config;
    const ListSetting *setting = list_setting_find(name, error);
    g_autoptr(List) old = setting ? list_by_id(store, list->list_id, error) : NULL;
    g_autofree char *before = old ? list_get(old, name, error) : NULL;
    if (before && value && list_setting_stays(setting, before, value))
        return true;
    if (!before || (value && config && !setting_check(config, name, value, error)) ||
        (value && !check_named_lists(work, setting, before, value, error)) ||
        (config && !check_family(config, old, setting, value, error)))
        return false;
    return (value ? list_set(store, list->list_id, name, value, error)
                  : list_reset(store, list->list_id, name, error)) &&
           log_setting(work, list, setting, before, error);
}

bool change_look(Store *store, const List *list, const ListLogRow *row, Undo *undo, GError **error)
{
    bool is_setting = strcmp(row->kind, LOG_SETTING) == 0 && row->before && row->after &&
                      list_setting_find(row->name, NULL);
    bool is_ban = strcmp(row->kind, LOG_BAN) == 0, banned = false;
    *undo = UNDO_NOTHING;
    if (!is_setting && !is_ban)
        return true;
    g_autofree char *value = is_setting ? list_get(list, row->name, error) : NULL;
    if (is_setting ? !value : !ban_find(store, list->list_id, row->name, &banned, error))
        return false;
    bool stands = is_setting ? strcmp(value, row->after) == 0 : banned == (row->after != NULL);
    *undo = stands ? UNDO_DONE : UNDO_CHANGED;
    return true;
}

bool change_undo(Work *work, const List *list, int64_t key, Undo *result, GError **error)
{
    g_autoptr(ListLogRow) row = list_log_find(work_store(work), list->list_id, key, error);
    g_autoptr(List) now = row ? list_by_id(work_store(work), list->list_id, error) : NULL;
    if (!now || !change_look(work_store(work), now, row, result, error))
        return false;
    if (*result != UNDO_DONE)
        return true;
    if (strcmp(row->kind, LOG_SETTING) == 0)
        return change_setting(work, list, row->name, row->before, error);
    return row->after ? ban_lift(work, list, row->name, error) : ban_impose(work, list, row->name, error);
}
