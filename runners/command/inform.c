/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/command/inform.h"

#include <string.h>

#include "lists/letters/letter.h"
#include "mail/fold.h"
#include "store/lists/list_setting.h"

static void say(const InformAsked *asked, const char *key, int64_t count, GString *answer)
{
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, count);
    const TemplateValue values[] = {{"count", number}, {0}};
    g_autofree char *sentence = letter_sentence(asked->work, asked->list, asked->language, key, values);
    fold_append(answer, "    ", sentence);
}

/* ---- who ---- */

bool inform_has_role(const InformAsked *asked, unsigned roles, bool *has, GError **error)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = asked->list->list_id;
    criteria.address = asked->who;
    criteria.roles = roles;
    g_autoptr(GPtrArray) found = member_page(work_store(asked->work), &criteria, NULL, 1, NULL, error);
    *has = found && found->len > 0;
    return found != NULL;
}

static bool may_see(const InformAsked *asked, bool *allowed, GError **error)
{
    RosterVisibility visibility = asked->list->settings->member_roster_visibility;
    unsigned roles = 1u << ROLE_OWNER | 1u << ROLE_MODERATOR | (visibility == ROSTER_MEMBERS ? 1u << ROLE_MEMBER : 0);
    *allowed = visibility == ROSTER_PUBLIC;
    return *allowed || inform_has_role(asked, roles, allowed, error);
}

static bool is_wanted(const WhoFilter *filter, const Member *member)
{
    bool enabled = member->effective.delivery_status == DELIVERY_ENABLED;
    bool digest = member->effective.delivery_mode != MODE_REGULAR;
    return (filter->delivery < 0 || filter->delivery == enabled) && (filter->digest < 0 || filter->digest == digest);
}

#define LOOKED_MAX 50000 /* members that are looked at, when few are wanted of a large list */

/* How many were looked at, shown, and not. */
typedef struct Roster {
    unsigned looked, shown;
    int64_t hidden;
} Roster;

/* Shows at most INFORM_LINES_MAX; *after is where the rest begins, NULL: there is none. */
static bool show_members(const InformAsked *asked, Roster *roster, char **after, GString *answer, GError **error)
{
    bool all = asked->list->settings->member_roster_visibility == ROSTER_MODERATORS; /* they see all */
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = asked->list->list_id;
    criteria.roles = 1u << ROLE_MEMBER;
    do {
        g_autofree char *from = g_steal_pointer(after);
        g_autoptr(GPtrArray) page =
            member_page(work_store(asked->work), &criteria, from, INFORM_LINES_MAX - roster->shown, after, error);
        for (unsigned at = 0; page && at < page->len; at++) {
            const Member *member = page->pdata[at];
            bool shown = all || !member->effective.hide_address;
            if (!is_wanted(&asked->filter, member))
                continue;
            roster->hidden += !shown;
            roster->shown += shown;
            if (shown)
                g_string_append_printf(answer, "    %s%s%s\n", member->address, *member->given_name ? "  " : "",
                                       member->given_name);
        }
        if (!page)
            return false;
        roster->looked += page->len;
    } while (*after && roster->shown + roster->hidden < INFORM_LINES_MAX && roster->looked < LOOKED_MAX);
    return true;
}

bool inform_who(const InformAsked *asked, GString *answer, GError **error)
{
    bool allowed;
    Roster roster = {0};
    g_autofree char *after = NULL;
    if (!may_see(asked, &allowed, error))
        return false;
    if (!allowed) {
        say(asked, "who_refused", 0, answer);
        return true;
    }
    say(asked, "who_members", 0, answer);
    if (!show_members(asked, &roster, &after, answer, error))
        return false;
    if (roster.hidden > 0)
        say(asked, "who_hidden", roster.hidden, answer);
    if (after)
        say(asked, "who_rest", roster.shown + roster.hidden, answer);
    return true;
}

/* ---- the list, and the others ---- */

bool inform_list(const InformAsked *asked, GString *answer, GError **error)
{
    const List *list = asked->list;
    g_autofree char *title = g_strconcat(list->settings->display_name, *list->settings->description ? ": " : "",
                                         list->settings->description, NULL);
    fold_append(answer, "    ", title);
    fold_append(answer, "    ", list->settings->info ? list->settings->info : "");
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
    if (!list->settings->advertised)
        return true;
    g_string_append_printf(shown->answer, "    %s%s%s\n", list->posting_address,
                           *list->settings->description ? "  " : "", list->settings->description);
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
