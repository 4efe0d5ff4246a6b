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

#define LOOKED_MAX 50000 /* members that are looked at, when few are wanted of a large list */

bool inform_who(const InformAsked *asked, GString *answer, GError **error)
{
    const WhoFilter *filter = &asked->filter;
    RosterVisibility visibility = asked->list->settings->member_roster_visibility;
    unsigned roles = 1u << ROLE_OWNER | 1u << ROLE_MODERATOR | (visibility == ROSTER_MEMBERS ? 1u << ROLE_MEMBER : 0);
    bool allowed = visibility == ROSTER_PUBLIC, all = visibility == ROSTER_MODERATORS; /* they see the hidden too */
    if (!allowed && !inform_has_role(asked, roles, &allowed, error))
        return false;
    if (!allowed) {
        say(asked, "who_refused", 0, answer);
        return true;
    }
    say(asked, "who_members", 0, answer);

    unsigned looked = 0, shown = 0;
    int64_t hidden = 0;
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = asked->list->list_id;
    criteria.roles = 1u << ROLE_MEMBER;
    g_autofree char *after = NULL; /* where the rest begins; NULL: there is none */
    do {
        g_autofree char *from = g_steal_pointer(&after);
        g_autoptr(GPtrArray) page =
            member_page(work_store(asked->work), &criteria, from, INFORM_LINES_MAX - shown, &after, error);
        if (!page)
            return false;
        for (unsigned at = 0; at < page->len; at++) {
            const Member *member = page->pdata[at];
            bool enabled = member->effective.delivery_status == DELIVERY_ENABLED;
            bool digest = member->effective.delivery_mode != MODE_REGULAR;
            if ((filter->delivery >= 0 && filter->delivery != enabled) ||
                (filter->digest >= 0 && filter->digest != digest))
                continue;
            if (!all && member->effective.hide_address) {
                hidden++;
                continue;
            }
            shown++;
            g_string_append_printf(answer, "    %s%s%s\n", member->address, *member->given_name ? "  " : "",
                                   member->given_name);
        }
        looked += page->len;
    } while (after && shown + hidden < INFORM_LINES_MAX && looked < LOOKED_MAX);
    if (hidden > 0)
        say(asked, "who_hidden", hidden, answer);
    if (after)
        say(asked, "who_rest", shown + hidden, answer);
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
