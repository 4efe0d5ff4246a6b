/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Domains, people and members. */
#include "base/fail.h"
#include "lists/moving/moving_internal.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "store/lists/domain.h"
#include "store/people/stranger.h"
#include "store/people/user.h"

/* ---- domains ---- */

static bool set_alias(Moving *moving, const MovingDomain *domain, GError **error)
{
    Work *work;
    GError *refusal = NULL;
    if (!moving_try(moving, &work, error))
        return false;
    bool done = domain_set_alias(moving->site.store, domain->mail_host, domain->alias, &refusal);
    store_savepoint_end(moving->site.store, done);
    if (done)
        return true;
    moving_tell(moving, MOVING_LEFT_OUT, domain->mail_host, "alias_domain", "%s", refusal->message);
    bool goes_on = !g_error_matches(refusal, FAIL, FAIL_LATER);
    if (!goes_on)
        g_propagate_error(error, g_steal_pointer(&refusal));
    g_clear_error(&refusal);
    return goes_on;
}

bool moving_domain(Moving *moving, const MovingDomain *domain, GError **error)
{
    Work *work;
    bool in, known = false;
    GError *refusal = NULL;
    Store *store = moving->site.store, *trial_of = moving_trial_of(moving);
    g_clear_pointer(&moving->domains, g_hash_table_unref);
    if ((trial_of && !domain_answers(trial_of, domain->mail_host, &known, error)) || !moving_try(moving, &work, error))
        return false;
    bool done = domain_create(store, domain->mail_host, domain->description, &refusal);
    if (done && known) { /* it had to be made where this is tried */
        store_savepoint_end(store, true);
        moving_there(moving, MOVING_DOMAINS);
        return moving_step(moving, error);
    }
    if (!moving_settle(moving, done, refusal, &(MovingThing){MOVING_DOMAINS, domain->mail_host, ""}, &in, error))
        return false;
    if (in) /* with a list that comes, too */
        moving_tell(moving, MOVING_OF_SITE, "", "domain", "%s is made", domain->mail_host);
    g_autofree char *alias = domain->alias ? g_strdup_printf("%s of %s", domain->alias, domain->mail_host) : NULL;
    return !in || !alias || !moving_may_site(moving, "alias_domain", alias) || set_alias(moving, domain, error);
}

bool moving_domain_owner(Moving *moving, const char *mail_host, const char *address, GError **error)
{
    g_autofree char *owner = g_strdup_printf("%s owns %s", address, mail_host);
    if (!moving_may_site(moving, "domain_owner", owner))
        return true;
    if (!moving_work(moving, error))
        return false;
    g_autoptr(GError) refusal = NULL;
    g_autoptr(User) user = user_find(moving->site.store, address, &refusal);
    if (user && domain_add_owner(moving->site.store, mail_host, user->id, &refusal))
        return true;
    if (g_error_matches(refusal, FAIL, FAIL_LATER))
        return fail_with(error, &refusal);
    moving_tell(moving, MOVING_LEFT_OUT, mail_host, "owner", "%s", refusal->message);
    return true;
}

/* ---- addresses ---- */

/* Find the domains of the site, and for a trial those of the store that it is made with. */
static bool find_domains(Moving *moving, GError **error)
{
    Store *trial_of = moving_trial_of(moving);
    g_autoptr(GHashTable) domains = own_address_domains(moving->site.store, error);
    g_autoptr(GHashTable) more = domains && trial_of ? own_address_domains(trial_of, error) : NULL;
    if (!domains || (trial_of && !more))
        return false;
    GHashTableIter at;
    void *domain;
    if (more)
        g_hash_table_iter_init(&at, more);
    while (more && g_hash_table_iter_next(&at, &domain, NULL))
        g_hash_table_add(domains, g_strdup(domain));
    moving->domains = g_steal_pointer(&domains);
    return true;
}

/* May a person have this address? Most are of other domains, and cost no question to the store. */
static bool may_have(Moving *moving, Work *work, const char *list_id, Role role, const char *address, GError **error)
{
    Store *trial_of = moving_trial_of(moving);
    if (!moving->domains && !find_domains(moving, error))
        return false;
    if (!own_address_may_be(moving->domains, address))
        return true;
    g_autoptr(Work) other = trial_of ? work_new(trial_of, moving->site.site, &moving->actor) : NULL;
    return own_address_check(work, list_id, role, address, error) &&
           (!other || own_address_check(other, list_id, role, address, error));
}

/* Make the address in the store of a trial as the site has it, so that it is known there, too. */
static bool recall_address(Moving *moving, const char *email, GError **error)
{
    bool known;
    KnownAddress *found = NULL;
    Store *trial_of = moving_trial_of(moving);
    if (trial_of && !address_look_up(trial_of, email, &found, error))
        return false;
    g_autoptr(KnownAddress) there = found;
    const BroughtUser user = {.display_name = "", .preferences = preferences_unset};
    const BroughtAddress same = {.email = email,
                                 .display_name = "",
                                 .preferred = there && there->preferred,
                                 .preferences = preferences_unset,
                                 .user = there && *there->user_id ? &user : NULL};
    return !there || bring_address(moving->site.store, &same, &known, error);
}

bool moving_address(Moving *moving, const BroughtAddress *address, GError **error)
{
    bool known = false;
    GError *refusal = NULL;
    if (address->user && address->user->server_owner && !moving_may_site(moving, "server_owner", address->email))
        return true;
    if (!moving_may_site(moving, "address", NULL))
        return true;
    Work *work = moving_work(moving, error);
    if (!work)
        return false;
    bool done = recall_address(moving, address->email, &refusal) &&
                bring_address(moving->site.store, address, &known, &refusal);
    if (done && known)
        done = fail(&refusal, FAIL_EXISTS, "known");
    return moving_judge(moving, done, refusal, &(MovingThing){MOVING_ADDRESSES, address->email, "address"}, NULL,
                        error) &&
           moving_step(moving, error);
}

/* ---- members ---- */

/* Somebody who is known only because a post came from there; nobody asked for that row. */
static bool is_stranger(const BroughtMember *member)
{
    return member->role == ROLE_NONMEMBER && member->moderation_action == ACTION_UNSET && !member->as_user &&
           preferences_are_unset(&member->preferences);
}

static bool bring(Moving *moving, Work *work, const BroughtMember *member, bool *known, GError **error)
{
    if (!is_stranger(member))
        return bring_member(moving->site.store, member, known, error);
    g_autoptr(Member) there = NULL;
    if (!member_look_up(moving->site.store, member->list_id, ROLE_NONMEMBER, member->address, &there, error))
        return false;
    *known = there != NULL;
    return there || stranger_note(moving->site.store, member->list_id, member->address, work_now(work), error);
}

bool moving_member_address(Moving *moving, const char *list_id, Role role, const char *address, GError **error)
{
    char id[STORE_ID_SIZE];
    KnownAddress *found;
    Work *work = moving_work(moving, error);
    if (!work || !may_have(moving, work, list_id, role, address, error) ||
        !address_look_up(moving->site.store, address, &found, error))
        return false;
    g_autoptr(KnownAddress) known = found;
    return known || user_create(moving->site.store, address, NULL, id, error);
}

bool moving_member(Moving *moving, const BroughtMember *from, GError **error)
{
    bool known = false, in;
    GError *refusal = NULL;
    BroughtMember own = *from, *member = &own;
    Work *work = moving_work(moving, error);
    if (!work)
        return false;
    own.as_user = from->as_user && moving->site.of_site; /* of a user that this import may not make */
    bool done = may_have(moving, work, member->list_id, member->role, member->address, &refusal) &&
                (!member->as_user || recall_address(moving, member->address, &refusal)) &&
                bring(moving, work, member, &known, &refusal);
    if (done && known)
        done = fail(&refusal, FAIL_EXISTS, "known");
    g_autofree char *key = g_strdup_printf("%s %s", role_text(member->role), member->address);
    if (!moving_judge(moving, done, refusal, &(MovingThing){MOVING_MEMBERS, member->list_id, key}, &in, error))
        return false;
    moving->came[member->role] += in;
    return moving_step(moving, error);
}

bool moving_topics(Moving *moving, const char *list_id, const char *address, const TopicChoice *choice, GError **error)
{
    g_auto(TopicChoice) there = {0};
    g_autoptr(Member) member = NULL;
    Store *store = moving->site.store;
    return moving_work(moving, error) && member_look_up(store, list_id, ROLE_MEMBER, address, &member, error) &&
           (!member || (topic_read(store, member->id, &there, error) &&
                        (*there.names || topic_set(store, member->id, (const char *const *)choice->names,
                                                   choice->unmatched, error))));
}

bool moving_kept_out(Moving *moving, const char *list_id, const char *address, int64_t left_at, GError **error)
{
    bool known = false;
    GError *refusal = NULL;
    if (!moving_work(moving, error))
        return false;
    bool done = bring_left(moving->site.store, list_id, address, left_at, &known, &refusal);
    if (done && known)
        done = fail(&refusal, FAIL_EXISTS, "known");
    g_autofree char *key = g_strdup_printf("who left, %s", address);
    return moving_judge(moving, done, refusal, &(MovingThing){MOVING_KEPT_OUT, list_id, key}, NULL, error) &&
           moving_step(moving, error);
}

bool moving_log_came(Moving *moving, GError **error)
{
    for (int role = ROLE_MEMBER; role <= ROLE_NONMEMBER; role++) {
        const uint64_t came = moving->came[role];
        moving->came[role] = 0;
        if (came > 0 && !roster_log_many(moving->work, moving->list_id, (Role)role, came, error))
            return false;
    }
    return true;
}
