/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Domains, people and members. */
#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/moving/moving_internal.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "store/lists/domain.h"
#include "store/people/stranger.h"
#include "store/people/user.h"

/* ---- domains ---- */

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
    if (!in || !alias || !moving_may_site(moving, "alias_domain", alias))
        return true;
    if (!moving_try(moving, &work, error))
        return false;
    g_autoptr(GError) fault = NULL;
    done = domain_set_alias(store, domain->mail_host, domain->alias, &fault);
    store_savepoint_end(store, done);
    if (done)
        return true;
    moving_tell(moving, MOVING_LEFT_OUT, domain->mail_host, "alias_domain", "%s", fault->message);
    return !g_error_matches(fault, FAIL, FAIL_LATER) || fail_with(error, &fault);
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

/* May a person have this address? Most are of other domains, and cost no question to the store. */
static bool may_have(Moving *moving, Work *work, const char *list_id, Role role, const char *address, GError **error)
{
    Store *trial_of = moving_trial_of(moving);
    if (!moving->domains) { /* of the site, and for a trial those of the store that it is made with */
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
    }
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
    const CarryUser user = {.display_name = "", .preferences = preferences_unset};
    const CarryAddress same = {.email = email,
                                 .display_name = "",
                                 .preferred = there && there->preferred,
                                 .preferences = preferences_unset,
                                 .user = there && *there->user_id ? &user : NULL};
    return !there || carry_address(moving->site.store, &same, &known, error);
}

bool moving_address(Moving *moving, const CarryAddress *address, GError **error)
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
                carry_address(moving->site.store, address, &known, &refusal);
    if (done && known)
        done = fail(&refusal, FAIL_EXISTS, "known");
    return moving_judge(moving, done, refusal, &(MovingThing){MOVING_ADDRESSES, address->email, "address"}, NULL,
                        error) &&
           moving_step(moving, error);
}

/* ---- members ---- */

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

bool moving_member(Moving *moving, const CarryMember *from, GError **error)
{
    bool known = false, in;
    GError *refusal = NULL;
    Store *store = moving->site.store;
    CarryMember own = *from, *member = &own;
    Work *work = moving_work(moving, error);
    if (!work)
        return false;
    own.as_user = from->as_user && moving->site.of_site; /* of a user that this import may not make */
    /* Somebody may be known only because a post came from there; nobody asked for that row. */
    bool stranger = own.role == ROLE_NONMEMBER && own.moderation_action == ACTION_UNSET && !own.as_user &&
                    preferences_are_unset(&own.preferences);
    bool done = may_have(moving, work, member->list_id, member->role, member->address, &refusal) &&
                (!member->as_user || recall_address(moving, member->address, &refusal));
    if (done && stranger) {
        g_autoptr(Member) there = NULL;
        done = member_look_up(store, member->list_id, ROLE_NONMEMBER, member->address, &there, &refusal);
        known = there != NULL;
        done = done && (known || stranger_note(store, member->list_id, member->address, work_now(work), &refusal));
    } else if (done) {
        done = carry_member(store, member, &known, &refusal);
    }
    if (done && known)
        done = fail(&refusal, FAIL_EXISTS, "known");
    g_autofree char *key = g_strdup_printf("%s %s", role_text(member->role), member->address);
    if (!moving_judge(moving, done, refusal, &(MovingThing){MOVING_MEMBERS, member->list_id, key}, &in, error))
        return false;
    moving->came[member->role] += in;
    return moving_step(moving, error);
}

bool moving_kept_out(Moving *moving, const char *list_id, const char *address, int64_t left_at, GError **error)
{
    bool known = false;
    GError *refusal = NULL;
    if (!moving_work(moving, error))
        return false;
    g_autofree char *bare = mailbox_bare(address);
    bool done = carry_row(moving->site.store, "source_left", list_id, &known, &refusal, TEXT(bare ? bare : address),
                          TEXT("import"), INTEGER(left_at > 0 ? left_at : clock_now()));
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
