/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/making/list_change.h"

#include <string.h>

#include "base/fail.h"
#include "lists/change.h"
#include "lists/making/list_make.h"
#include "lists/making/list_name.h"
#include "lists/making/mta_maps.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "store/lists/header_match.h"
#include "store/lists/template_text.h"
#include "store/lists/topic.h"
#include "store/people/ban.h"
#include "store/people/pending.h"
#include "store/posts/digest.h"
#include "store/posts/fragment.h"
#include "store/posts/held.h"
#include "store/posts/scheduled.h"

#define PAGE 1000

bool list_move(Work *work, const char *list_id, const char *address, GError **error)
{
    Store *store = work_store(work);
    g_autoptr(List) before = list_by_id(store, list_id, error);
    if (!before || !list_name_is_free(store, address, work_site(work)->delimiter, error) ||
        !list_rename(store, list_id, address, error) || !own_address_check_new(work, list_id, error) ||
        !change_log(work, list_id, &(Change){LOG_LIST, "address", before->posting_address, address}, error))
        return false;
    mta_maps_ask(work);
    work_log(work, list_id, "result=list-renamed address=<%s>", address);
    return true;
}

/* ---- a copy ---- */

static bool copy_member(Work *work, const Member *member, const char *to, uint64_t *number, GError **error)
{
    Store *store = work_store(work);
    char *sentence;
    if (!own_address_bars(work, to, member->role, member->address, &sentence, error))
        return false;
    g_autofree char *why = sentence;
    if (why) { /* the copy's own address, or a member from before there was such a rule */
        work_log(work, to, "%s=<%s> result=not-copied (%s)", role_text(member->role), member->address, why);
        return true;
    }
    const RosterEntry entry = {.role = member->role,
                               .address = member->address,
                               .own = &member->own,
                               .as_user = member->as_user,
                               .counted = true};
    ++*number;
    return roster_add(work, to, &entry, error) &&
           (!member->as_user || preferences_are_unset(&member->own) ||
            member_set_preferences(store, to, member->role, member->address, &member->own, error)) &&
           (member->moderation_action == ACTION_UNSET ||
            member_set_moderation(store, to, member->role, member->address, member->moderation_action, error));
}

static bool copy_members(Work *work, const char *from, const char *to, unsigned roles, GError **error)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = from;
    criteria.roles = roles;
    uint64_t numbers[ROLE_NONMEMBER + 1] = {0};
    g_autofree char *after = NULL;
    do {
        char *next;
        g_autoptr(GPtrArray) page = member_page(work_store(work), &criteria, after, PAGE, &next, error);
        if (!page)
            return false;
        g_free(after);
        after = next;
        for (guint at = 0; at < page->len; at++)
            if (!copy_member(work, page->pdata[at], to, &numbers[((Member *)page->pdata[at])->role], error))
                return false;
    } while (after);
    for (int role = ROLE_MEMBER; role <= ROLE_NONMEMBER; role++)
        if (!roster_log_many(work, to, (Role)role, numbers[role], error))
            return false;
    return true;
}

static bool note_ban(const Ban *ban, void *data)
{
    g_ptr_array_add(data, g_strdup(ban->email));
    return true;
}

static bool copy_bans(Store *store, const char *from, const char *to, GError **error)
{
    g_autoptr(GPtrArray) bans = g_ptr_array_new_with_free_func(g_free);
    if (!ban_each(store, from, note_ban, bans, error))
        return false;
    for (guint at = 0; at < bans->len; at++)
        if (!ban_add(store, to, bans->pdata[at], error))
            return false;
    return true;
}

static bool copy_header_rows(Store *store, const char *from, const char *to, GError **error)
{
    g_autoptr(GPtrArray) rows = header_match_all(store, from, error);
    for (guint at = 0; rows && at < rows->len; at++) {
        HeaderMatch *row = rows->pdata[at];
        g_free(row->list_id);
        row->list_id = g_strdup(to);
        row->position = -1;
        if (!header_match_add(store, row, error))
            return false;
    }
    return rows != NULL;
}

static bool copy_templates(Store *store, const char *from, const char *to, GError **error)
{
    g_autoptr(GPtrArray) texts = template_text_all(store, from, error);
    for (guint at = 0; texts && at < texts->len; at++) {
        TemplateText *text = texts->pdata[at];
        g_free(text->place);
        text->place = g_strdup(to);
        if (!template_text_put(store, text, error))
            return false;
    }
    return texts != NULL;
}

List *list_copy(Work *work, const List *from, const char *address, bool members, GError **error)
{
    Store *store = work_store(work);
    const NewList new = {.address = address};
    unsigned roles = 1u << ROLE_OWNER | 1u << ROLE_MODERATOR;
    if (members)
        roles |= 1u << ROLE_MEMBER | 1u << ROLE_NONMEMBER;
    g_autoptr(List) made = list_make(work, &new, error);
    if (!made ||
        !change_log(work, made->list_id, &(Change){.kind = LOG_LIST, .name = "copied from", .after = from->list_id},
                    error) ||
        !list_copy_settings(store, from->list_id, made->list_id, error) ||
        !copy_bans(store, from->list_id, made->list_id, error) ||
        !copy_header_rows(store, from->list_id, made->list_id, error) ||
        !copy_templates(store, from->list_id, made->list_id, error) ||
        !copy_members(work, from->list_id, made->list_id, roles, error) ||
        !topic_copy(store, from->list_id, made->list_id, error))
        return NULL;
    return list_by_id(store, made->list_id, error);
}

/* ---- what there is ---- */

static bool count_request(const Pending *request, void *data)
{
    (void)request;
    (*(int64_t *)data)++;
    return true;
}

static bool count_set(const FragmentSet *set, void *data)
{
    ListContents *contents = data;
    if (set->state == FRAGMENT_OPEN || set->state == FRAGMENT_QUARANTINED) {
        contents->sets++;
        contents->parts += set->parts;
    }
    return true;
}

bool list_contents(Store *store, const List *list, const char *hostname, ListContents *contents, GError **error)
{
    int64_t moderators;
    g_auto(Digest) digest = {0};
    const FragmentChoice choice = {.list_id = list->list_id, .host = hostname, .every_state = true};
    *contents = (ListContents){0};
    if (!member_count(store, list->list_id, ROLE_MEMBER, &contents->members, error) ||
        !member_count(store, list->list_id, ROLE_OWNER, &contents->owners, error) ||
        !member_count(store, list->list_id, ROLE_MODERATOR, &moderators, error) ||
        !held_total(store, list->list_id, &contents->held, error) ||
        !scheduled_count(store, list->list_id, &contents->scheduled, error) ||
        !pending_each(store, list->list_id, 0, count_request, &contents->requests, error) ||
        !digest_read(store, list->list_id, &digest, error) ||
        !fragment_each(store, &choice, count_set, contents, error))
        return false;
    contents->owners += moderators;
    contents->digest_posts = digest.waiting;
    return true;
}
