/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/making/list_make.h"

#include <string.h>

#include "base/fail.h"
#include "lists/archive/archive_place.h"
#include "lists/change.h"
#include "lists/event.h"
#include "lists/letters/letter.h"
#include "lists/making/domain_make.h"
#include "lists/making/mta_maps.h"
#include "lists/making/style.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "lists/posts/fragment_wake.h"
#include "lists/posts/scheduled_post.h"
#include "mail/list_address.h"
#include "store/lists/domain.h"
#include "store/lists/header_match.h"
#include "store/lists/list.h"
#include "store/lists/list_archive.h"
#include "store/lists/template_text.h"
#include "store/lists/topic.h"
#include "store/people/ban.h"
#include "store/people/pending.h"
#include "store/posts/digest.h"
#include "store/posts/fragment.h"
#include "store/posts/held.h"
#include "store/posts/scheduled.h"

#define PAGE 1000

/* ---- names ---- */

static bool exists(const char *local, const char *domain, bool *exists, char **list_id, void *data, GError **error)
{
    return list_exists(data, local, domain, exists, list_id, error);
}

/* Is what follows the name "-owner" or the like, alone or with the delimiter behind? */
static bool is_suffix(const char *rest, char delimiter)
{
    const char *suffix;
    for (size_t at = 0; (suffix = list_address_suffix(at)) != NULL; at++) {
        size_t length = strlen(suffix);
        if (strncmp(rest, suffix, length) == 0 && (!rest[length] || rest[length] == delimiter))
            return true;
    }
    return false;
}

bool list_name_is_free(Store *store, const char *posting_address, char delimiter, GError **error)
{
    const char *at = strrchr(posting_address, '@');
    if (!at || !g_utf8_validate(posting_address, -1, NULL))
        return true;
    /* Is mail to it for another list's owners, bounces and so on? */
    g_autoptr(GError) refusal = NULL;
    g_autoptr(ListAddress) taken = list_address_find(posting_address, delimiter, exists, store, &refusal);
    if (!taken && !fail_unless(error, FAIL_MISSING, &refusal))
        return false;
    if (taken && taken->to != LIST_ADDRESS_POSTING)
        return fail(error, FAIL_NEVER, "%s is the \"%s\" address of the list %s@%s; give the new list another name",
                    posting_address, list_address_text(taken->to), taken->local, taken->domain);
    g_autofree char *given = g_strndup(posting_address, (size_t)(at - posting_address));
    g_autofree char *name = g_utf8_strdown(given, -1), *domain = g_utf8_strdown(at + 1, -1);
    g_autofree char *beginning = g_strconcat(name, "-", NULL);
    g_auto(GStrv) others = list_names(store, domain, beginning, error);
    for (char **other = others; other && *other; other++)
        if (is_suffix(*other + strlen(name), delimiter))
            return fail(error, FAIL_NEVER,
                        "%s would have the address of the list %s@%s as one of its own; "
                        "give the new list another name",
                        posting_address, *other, domain);
    return others != NULL;
}

/* ---- a new list ---- */

static bool ensure_domain(Store *store, const NewList *new, GError **error)
{
    const char *at = strrchr(new->address, '@');
    char *found = NULL;
    if (!at || at == new->address || !at[1])
        return fail(error, FAIL_NEVER, "'%s' is no list address; NAME@DOMAIN is wanted", new->address);
    if (!new->near_domain && !domain_near(store, at + 1, &found, error))
        return false;
    g_autofree char *near = found;
    if (near) /* a slip of the hand, as it seems */
        return fail(error, FAIL_NEVER,
                    "this site has no domain %s, but %s; if the new one is meant: --new-domain, or first "
                    "listrunner domain create %s",
                    at + 1, near, at + 1);
    g_autoptr(GError) refusal = NULL;
    if (domain_create(store, at + 1, NULL, &refusal))
        return true;
    if (!g_error_matches(refusal, FAIL, FAIL_EXISTS))
        return fail_with(error, &refusal);
    g_autoptr(Domain) domain = domain_find(store, at + 1, NULL);
    return domain || fail(error, FAIL_NEVER, "%s is the alias of another domain (listrunner domain ls); lists are made "
                          "in that one, and mail to the alias reaches them", at + 1);
}

/* An archive that is there already is that of another list, as where one was put there by hand. The next name is taken,
 * where there is none. */
static bool choose_archive(Work *work, const List *made, GError **error)
{
    const Config *config = work_site(work)->config;
    for (int64_t archive = made->archive; config; archive++) {
        g_autofree char *name = list_archive_name(made->list_id, archive);
        g_auto(GStrv) places = archive_places(config, name);
        if (!*places)
            return archive == made->archive || list_archive_set(work_store(work), made->list_id, archive, error);
    }
    return true;
}

List *list_make(Work *work, const NewList *new, GError **error)
{
    Store *store = work_store(work);
    if ((new->make_domain && !ensure_domain(store, new, error)) ||
        !list_name_is_free(store, new->address, work_site(work)->delimiter, error))
        return NULL;
    g_autoptr(List) made = list_create(store, new->address, error);
    if (!made || !own_address_check_new(work, made->list_id, error) || !choose_archive(work, made, error) ||
        !style_apply(work, made->list_id, new->style, error))
        return NULL;
    for (const char *const *owner = new->owners; owner && *owner; owner++) {
        g_autoptr(GError) refusal = NULL;
        g_autoptr(Mailbox) address = mailbox_new(*owner);
        if (!roster_add(work, made->list_id, &(RosterEntry){.role = ROLE_OWNER, .address = address}, &refusal) &&
            !g_error_matches(refusal, FAIL, FAIL_EXISTS)) {
            g_propagate_prefixed_error(error, g_steal_pointer(&refusal), "owner: ");
            return NULL;
        }
    }
    g_autoptr(List) list = list_by_id(store, made->list_id, error);
    if (!list)
        return NULL;
    /* From the list, in whose domain it is signed: site_owner is as a rule at a domain that forbids others its name. */
    for (const char *const *owner = new->owners; new->notify && owner && *owner; owner++) {
        ListLetter letter = {
            .template = "list_created", .to = *owner, .reply_to = work_site(work)->site_owner, .personal = true};
        if (!work_letter(work, list, &letter, error))
            return NULL;
    }
    mta_maps_ask(work);
    event_tell(work, EVENT_LIST_CREATED, list->list_id, json_pack("{ss}", "address", list->posting_address));
    work_log(work, list->list_id, "result=list-created style=%s", new->style ? new->style : "discussion");
    return g_steal_pointer(&list);
}

/* The runner that has the parts learns that they wait for nothing. */
static bool wake(const FragmentSet *set, void *data)
{
    if (set->state != FRAGMENT_OPEN && set->state != FRAGMENT_QUARANTINED)
        return true;
    work_entry(data, "defragment", fragment_wake_meta(set),
               g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref), NULL);
    return true;
}

bool list_drop(Work *work, const char *list_id, GError **error)
{
    const FragmentChoice choice = {.list_id = list_id, .host = work_site(work)->hostname, .every_state = true};
    if (!fragment_each(work_store(work), &choice, wake, work, error))
        return false;
    g_autoptr(List) list = list_by_id(work_store(work), list_id, error);
    if (!list || !scheduled_post_list_goes(work, list, error))
        return false;
    event_tell(work, EVENT_LIST_REMOVED, list_id, json_object());
    if (!list_remove(work_store(work), list_id, error))
        return false;
    mta_maps_ask(work);
    work_log(work, list_id, "result=list-removed");
    return true;
}

/* ---- another address ---- */

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
    if (why) { /* the copy's own address, or one that became ours after it was a member */
        work_log(work, to, "%s=<%s> result=not-copied (%s)", role_text(member->role), member->address, why);
        return true;
    }
    g_autoptr(Mailbox) address = mailbox_new(member->address);
    const RosterEntry entry = {
        .role = member->role, .address = address, .own = &member->own, .as_user = member->as_user, .counted = true};
    ++*number;
    return roster_add(work, to, &entry, error) &&
           (!member->as_user || preferences_are_unset(&member->own) ||
            member_set_preferences(store, to, member->role, address, &member->own, error)) &&
           (member->moderation_action == ACTION_UNSET ||
            member_set_moderation(store, to, member->role, address, member->moderation_action, error));
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
        !list_copy_settings(store, from->list_id, made->list_id, error))
        return NULL;

    g_autoptr(GPtrArray) bans = g_ptr_array_new_with_free_func(g_free);
    if (!ban_each(store, from->list_id, note_ban, bans, error))
        return NULL;
    for (guint at = 0; at < bans->len; at++)
        if (!ban_add(store, made->list_id, bans->pdata[at], error))
            return NULL;
    g_autoptr(GPtrArray) rows = header_match_all(store, from->list_id, error);
    for (guint at = 0; rows && at < rows->len; at++) {
        HeaderMatch *row = rows->pdata[at];
        g_free(row->list_id);
        row->list_id = g_strdup(made->list_id);
        row->position = -1;
        if (!header_match_add(store, row, error))
            return NULL;
    }
    g_autoptr(GPtrArray) texts = rows ? template_text_all(store, from->list_id, error) : NULL;
    for (guint at = 0; texts && at < texts->len; at++) {
        TemplateText *text = texts->pdata[at];
        g_free(text->place);
        text->place = g_strdup(made->list_id);
        if (!template_text_put(store, text, error))
            return NULL;
    }
    if (!texts || !copy_members(work, from->list_id, made->list_id, roles, error) ||
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
