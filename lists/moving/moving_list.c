/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Lists, their settings, and what is small about them. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "lists/authority.h"
#include "lists/letters/template_name.h"
#include "lists/letters/template_set.h"
#include "lists/making/list_make.h"
#include "lists/making/setting_check.h"
#include "lists/moving/moving_internal.h"
#include "lists/people/own_address.h"
#include "store/lists/list_setting.h"
#include "store/lists/news.h"
#include "store/people/ban.h"

/* ---- settings ---- */

/* Words one by one, so that one that is wrong does not keep the others out. */
static char *good_words(Moving *moving, const ListSetting *row, const char *place, const MovingSetting *setting)
{
    g_autoptr(GString) good = g_string_new(NULL);
    g_auto(GStrv) words = list_setting_words(setting->value);
    for (char **from = words; *from; from++) {
        g_autoptr(GError) refusal = NULL;
        g_autoptr(GString) escaped = g_string_new(*from);
        g_string_replace(escaped, ",", "\\,", 0);
        /* "@LIST" may name another list: who has this list sees whose posts pass, and so would learn who is a member of
         * that one. */
        bool other = **from == '@' && g_ascii_strcasecmp(*from + 1, place) != 0;
        if (other && !moving->site.of_site && !moving_may_site(moving, "setting", NULL))
            continue;
        g_autofree char *word = list_setting_canonical(row, escaped->str, &refusal);
        if (!word)
            moving_tell(moving, MOVING_LEFT_OUT, place, setting->key, "%s", refusal->message);
        else if (*word)
            g_string_append_printf(good, "%s%s", good->len ? "," : "", word);
    }
    return g_string_free(g_steal_pointer(&good), FALSE);
}

/* A placeholder that only the other system fills in stays as it is written, and the text is not left out for it. */
static void tell_unknown(Moving *moving, const char *place, const char *key, const char *unknown)
{
    if (unknown)
        moving_tell(moving, MOVING_CHANGED, place, key,
                    "%s: nothing here has this meaning, so it stays as it is written", unknown);
}

/* The value as it may be written here; g_free() */
static char *value_of(Moving *moving, const ListSetting *row, const char *place, const MovingSetting *setting)
{
    if (row->type == SETTING_WORDS)
        return good_words(moving, row, place, setting);
    if (row->type == SETTING_LINE) { /* blanks at its ends are part of it: of a prefix, say */
        if (!strpbrk(setting->value, "\r\n"))
            return g_strdup(setting->value);
        g_auto(GStrv) lines = g_strsplit_set(g_strstrip(setting->value), "\r\n", -1);
        moving_tell(moving, MOVING_CHANGED, place, setting->key, "its lines were joined to one");
        return g_strjoinv(" ", lines);
    }
    if (!row->placeholders)
        return g_strdup(setting->value);
    g_autofree char *unknown = NULL;
    char *usable = placeholder_keep_unknown(setting->value, row->placeholders, &unknown);
    tell_unknown(moving, place, setting->key, unknown);
    return usable;
}

bool moving_setting(Moving *moving, const List *list, const MovingSetting *setting, GError **error)
{
    GError *refusal = NULL;
    const Config *config = moving->site.site->config;
    const ListSetting *row = list_setting_find(setting->name, error);
    if (!row)
        return false;
    g_autofree char *written = value_of(moving, row, list->list_id, setting);
    g_autofree char *value = list_setting_canonical(row, written, &refusal);
    if (value && config && !setting_check(config, row->name, value, &refusal))
        g_clear_pointer(&value, g_free);
    g_autofree char *there = list_get(list, setting->name, NULL);
    if (value && g_strcmp0(value, there) != 0 && !authority_covers(authority_of_setting(row), BY_LIST)) {
        g_autofree char *what = g_strdup_printf("%s=%s of %s", row->name, value, list->list_id);
        if (!moving_may_site(moving, "setting", what))
            return true;
    }
    bool done = value && (g_strcmp0(value, there) == 0 ||
                          list_set(moving->site.store, list->list_id, setting->name, value, &refusal));
    return moving_judge(moving, done, refusal, &(MovingThing){MOVING_SETTINGS, list->list_id, setting->key}, NULL,
                        error);
}

/* ---- lists ---- */

/* Is there a list at this address, or with this List-Id, that is not from this import? */
static bool is_free(Store *store, const MovingList *from, GError **error)
{
    for (unsigned by_id = 0; by_id < 2; by_id++) {
        g_autoptr(GError) missing = NULL;
        g_autoptr(List) found = by_id ? list_by_id(store, from->list.list_id, &missing)
                                      : list_by_address(store, from->list.address, &missing);
        if (found)
            return fail(error, FAIL_NEVER,
                        "a list %s with the List-Id %s is there already, and not from this import; "
                        "nothing of it is changed",
                        found->posting_address, found->list_id);
        if (!g_error_matches(missing, FAIL, FAIL_MISSING) && !g_error_matches(missing, FAIL, FAIL_NEVER))
            return fail_with(error, &missing);
    }
    return true;
}

static List *make_list(Moving *moving, Work *work, const MovingList *from, GError **error)
{
    Store *store = moving->site.store;
    Store *trial_of = moving_trial_of(moving);
    char delimiter = moving->site.site->delimiter;
    if ((trial_of &&
         (!is_free(trial_of, from, error) || !list_name_is_free(trial_of, from->list.address, delimiter, error))) ||
        !is_free(store, from, error) || !list_name_is_free(store, from->list.address, delimiter, error))
        return NULL;
    g_autoptr(List) made = carry_list(store, &from->list, error);
    if (!made || !own_address_check_new(work, made->list_id, error))
        return NULL;
    bool as_new = from->volume <= 1 && from->next_digest <= 1 && from->digest_sent_at == 0;
    bool known; /* no post waits for the digest yet */
    if (!as_new && !carry_row(store, "digest", made->list_id, &known, error, INTEGER(MAX(from->volume, 1)),
                              INTEGER(MAX(from->next_digest, 1)), INTEGER(from->digest_sent_at), INTEGER(0),
                              INTEGER(0), INTEGER(0)))
        return NULL;
    return g_steal_pointer(&made);
}

bool moving_list(Moving *moving, const MovingList *from, List **made, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    Store *store = moving->site.store;
    *made = NULL;
    if (!moving_try(moving, &work, error))
        return false;
    g_autoptr(List) list = make_list(moving, work, from, &refusal);
    if (!moving_settle(moving, list != NULL, refusal, &(MovingThing){MOVING_LISTS, from->list.list_id, ""}, NULL,
                       error))
        return false;
    if (!list)
        return true;
    if (!moving_work(moving, error))
        return false;
    for (guint i = 0; i < from->settings->len; i++)
        if (!moving_setting(moving, list, from->settings->pdata[i], error))
            return false;
    *made = list_by_id(store, list->list_id, error);
    if (!*made || from->watermark < 0 || !*(*made)->settings->linked_newsgroup ||
        news_set_watermark(store, list->list_id, (*made)->settings->linked_newsgroup, from->watermark, error))
        return *made != NULL;
    g_clear_pointer(made, list_free);
    return false;
}

/* ---- what is small ---- */

static const char *place_word(const char *list_id)
{
    return list_id && *list_id ? list_id : "site";
}

bool moving_ban(Moving *moving, const char *list_id, const char *email, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    if (!list_id && !moving_may_site(moving, "site_ban", email))
        return true;
    g_autofree char *key = g_strdup_printf("ban %s", email);
    if (!moving_try(moving, &work, error))
        return false;
    bool done = ban_add(moving->site.store, list_id, email, &refusal);
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_BANS, place_word(list_id), key}, NULL, error);
}

bool moving_header_match(Moving *moving, const HeaderMatch *match, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    if ((!match->list_id || !*match->list_id) && !moving_may_site(moving, "site_header_match", match->header))
        return true;
    HeaderMatch copy = *match; /* these two are replaced */
    copy.header = g_strdup(match->header);
    copy.target = g_strdup(match->target);
    g_autofree char *key = g_strdup_printf("header match %s: %s", match->header, match->pattern);
    bool tried = moving_try(moving, &work, error);
    bool done = tried && header_match_add(moving->site.store, &copy, &refusal);
    g_free(copy.header);
    g_free(copy.target);
    return tried && moving_settle(moving, done, refusal,
                                  &(MovingThing){MOVING_HEADER_MATCHES, place_word(match->list_id), key}, NULL, error);
}

/* language NULL: any. */
static bool is_set(Moving *moving, const char *place, const char *name, const char *language, bool *set, GError **error)
{
    g_autoptr(GPtrArray) all = template_text_all(moving->site.store, place, error);
    *set = false;
    for (guint i = 0; all && i < all->len; i++) {
        const TemplateText *one = all->pdata[i];
        *set |= strcmp(one->name, name) == 0 && (!language || strcmp(one->language, language) == 0);
    }
    return all != NULL;
}

bool moving_template_is_set(Moving *moving, const char *place, const char *name, bool *set, GError **error)
{
    return is_set(moving, place, name, NULL, set, error);
}

bool moving_template(Moving *moving, const TemplateText *written, GError **error)
{
    Work *work;
    bool set;
    GError *refusal = NULL;
    TemplateText text = *written;
    g_autofree char *what = g_strdup_printf("%s of %s", written->name, *written->place ? written->place : "the site");
    if ((!*written->place || *written->place == '@') && !moving_may_site(moving, "site_template", what))
        return true;
    g_autofree char *unknown = NULL, *usable = NULL;
    const TemplateName *name = written->text ? template_name_find(written->name) : NULL;
    if (name && g_utf8_validate(written->text, -1, NULL)) {
        text.text = usable = template_keep_unknown(name, written->text, &unknown);
        tell_unknown(moving, place_word(written->place), written->name, unknown);
    }
    if (!moving_try(moving, &work, error))
        return false;
    bool done = is_set(moving, text.place, text.name, text.language, &set, &refusal) &&
                (set ? fail(&refusal, FAIL_EXISTS, "set") : template_set(work, &text, &refusal));
    return moving_settle(moving, done, refusal, &(MovingThing){MOVING_TEMPLATES, place_word(text.place), text.name},
                         NULL, error);
}
