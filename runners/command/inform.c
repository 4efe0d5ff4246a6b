/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/command/inform.h"

#include <string.h>

#include "lists/letter.h"

static void say(const InformAsked *asked, const char *key, int64_t count, GString *answer)
{
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, count);
    const TemplateValue values[] = {{"count", number}, {0}};
    g_autofree char *sentence = letter_sentence(asked->work, asked->list, asked->language, key, values);
    g_string_append_printf(answer, "    %s\n", sentence);
}

/* ---- who ---- */

static bool may_see(const InformAsked *asked, bool *allowed, GError **error)
{
    const List *list = asked->list;
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = list->list_id;
    criteria.address = asked->who;
    criteria.roles = 1u << ROLE_OWNER | 1u << ROLE_MODERATOR;
    if (list->member_roster_visibility == ROSTER_MEMBERS)
        criteria.roles |= 1u << ROLE_MEMBER;
    *allowed = list->member_roster_visibility == ROSTER_PUBLIC;
    if (*allowed)
        return true;
    g_autoptr(GPtrArray) found = member_page(work_store(asked->work), &criteria, NULL, 1, NULL, error);
    *allowed = found && found->len > 0;
    return found != NULL;
}

bool inform_who(const InformAsked *asked, GString *answer, GError **error)
{
    const List *list = asked->list;
    bool allowed;
    int64_t all, hidden = 0;
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = list->list_id;
    criteria.roles = 1u << ROLE_MEMBER;
    if (!may_see(asked, &allowed, error))
        return false;
    if (!allowed) {
        say(asked, "who_refused", 0, answer);
        return true;
    }
    bool moderators = list->member_roster_visibility == ROSTER_MODERATORS; /* they see all */
    g_autoptr(GPtrArray) page = member_page(work_store(asked->work), &criteria, NULL, INFORM_LINES_MAX, NULL, error);
    if (!page || !member_matching(work_store(asked->work), &criteria, &all, error))
        return false;
    say(asked, "who_members", 0, answer);
    for (unsigned at = 0; at < page->len; at++) {
        const Member *member = page->pdata[at];
        bool shown = moderators || !member->effective.hide_address;
        hidden += !shown;
        if (shown)
            g_string_append_printf(answer, "    %s%s%s\n", member->address, *member->display_name ? "  " : "",
                                   member->display_name);
    }
    if (hidden > 0)
        say(asked, "who_hidden", hidden, answer);
    if (all > page->len)
        say(asked, "who_more", all - page->len, answer);
    return true;
}

/* ---- the list, and the others ---- */

bool inform_list(const InformAsked *asked, GString *answer, GError **error)
{
    const List *list = asked->list;
    g_auto(GStrv) lines = g_strsplit(list->info ? list->info : "", "\n", -1);
    g_string_append_printf(answer, "    %s%s%s\n", list->display_name, *list->description ? ": " : "",
                           list->description);
    for (char **line = lines; *line; line++)
        if (**line || line[1])
            g_string_append_printf(answer, "    %s\n", *line);
    say(asked, "info", 0, answer);
    return true;
}

typedef struct Shown {
    GString *answer;
    unsigned count;
} Shown;

static bool show_list(const List *list, void *data)
{
    Shown *shown = data;
    if (!list->advertised)
        return true;
    g_string_append_printf(shown->answer, "    %s%s%s\n", list->posting_address, *list->description ? "  " : "",
                           list->description);
    return ++shown->count < INFORM_LINES_MAX;
}

bool inform_lists(const InformAsked *asked, GString *answer, GError **error)
{
    g_autoptr(GString) lines = g_string_new(NULL);
    Shown shown = {.answer = lines};
    if (!list_each(work_store(asked->work), asked->list->mail_host, show_list, &shown, error))
        return false;
    say(asked, shown.count > 0 ? "lists_here" : "lists_none", 0, answer);
    g_string_append(answer, lines->str);
    return true;
}
