/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/change_address.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "lists/people/subscription_internal.h"
#include "store/people/session.h"
#include "store/people/user.h"

#define PAGE 100
#define MEMBER_ROLES (1u << ROLE_MEMBER | 1u << ROLE_NONMEMBER)
#define RUNNING_ROLES (1u << ROLE_OWNER | 1u << ROLE_MODERATOR)

/* Give the memberships in these roles to the new address. */
static bool move_all(Work *work, const Mailbox *from, const Mailbox *to, unsigned roles, GError **error)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.address = from->text;
    criteria.roles = roles;
    g_autoptr(GPtrArray) page = NULL;
    do { /* what was moved is not found again */
        g_clear_pointer(&page, g_ptr_array_unref);
        page = member_page(work_store(work), &criteria, NULL, PAGE, NULL, error);
        for (unsigned at = 0; page && at < page->len; at++) {
            const Member *member = page->pdata[at];
            g_autoptr(Mailbox) own = mailbox_new(member->address);
            g_autoptr(GError) refusal = NULL;
            if (roster_move(work, member, to, &refusal))
                continue;
            /* Where the new address has the role already, the old membership goes. */
            if (!fail_unless(error, FAIL_EXISTS, &refusal) ||
                !roster_remove(work, member->list_id, member->role, own, error))
                return false;
        }
    } while (page && page->len == PAGE);
    return page != NULL;
}

/* Is there any such membership? */
static bool is_any(Work *work, const MemberCriteria *criteria, bool *is, GError **error)
{
    g_autoptr(GPtrArray) page = member_page(work_store(work), criteria, NULL, 1, NULL, error);
    *is = page && page->len > 0;
    return page != NULL;
}

/* Tells the owners of each list where the old address keeps a role. */
static bool tell_owners(Work *work, const char *from, const char *to, GError **error)
{
    Store *store = work_store(work);
    const TemplateValue values[] = {{"address", from}, {"new_address", to}, {0}};
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.address = from;
    criteria.roles = RUNNING_ROLES;
    g_auto(GStrv) lists = member_lists(store, &criteria, error);
    for (char **list_id = lists; list_id && *list_id; list_id++) {
        g_autoptr(List) list = list_by_id(store, *list_id, error);
        char **owners = list ? letter_owners(store, list, work_site(work)->site_owner, error) : NULL;
        if (!owners)
            return false;
        g_autofree char *owner = list_address(list, "owner"), *bounces = list_address(list, "bounces");
        ListLetter letter = {.template = "role_kept", .values = values, .to = owner, .recipients = owners,
                             .envelope_sender = bounces};
        if (!work_letter(work, list, &letter, error))
            return false;
    }
    return lists != NULL;
}

/* Put the new address in the place of the old one in the person's account, and as the preferred one where that was.
 * *replaced: the old one is to be dropped from the account. It stays where both are the person's own already, or where
 * the account has rights over lists that stay with it. */
static bool change_account(Work *work, const KnownAddress *old, const Mailbox *to, bool every_role, bool *replaced,
                           GError **error)
{
    Store *store = work_store(work);
    KnownAddress *found;
    *replaced = false;
    if (!*old->user_id)
        return true;
    if (!address_look_up(store, to, &found, error))
        return false;
    g_autoptr(KnownAddress) there = found;
    bool own = there && strcmp(there->user_id, old->user_id) == 0, runs = false;

    /* The address that the role of an owner or moderator follows must not change, by whatever address it is had. */
    MemberCriteria running = MEMBER_CRITERIA_ALL;
    running.user_id = old->user_id;
    running.roles = RUNNING_ROLES;
    if (!every_role && !is_any(work, &running, &runs, error))
        return false;
    if (runs && !own) {
        /* The owner gets the memberships of the new address as a user of their own, for whoever answers a letter from
         * there must not sign in to what the owner may do. */
        char id[STORE_ID_SIZE];
        g_autoptr(GError) there_already = NULL;
        g_autoptr(User) user = user_find(store, old->user_id, error);
        if (!user)
            return false;
        if (user_create(store, to, user->display_name, id, &there_already))
            return user_set_preferences(store, id, &user->preferences, error);
        return fail_unless(error, FAIL_EXISTS, &there_already);
    }
    *replaced = !own;
    return (own || user_link_address(store, old->user_id, to, error)) &&
           (!old->preferred || runs || user_set_preferred(store, to, error));
}

static bool do_change(Work *work, const List *list, const Pending *request, const KnownAddress *old,
                      SubscriptionResult *result, GError **error)
{
    Store *store = work_store(work);
    const Mailbox *from = request->address;
    g_autoptr(Mailbox) to = mailbox_new(request->detail);
    bool every_role = request->facts & FACT_EVERY_ROLE, replaced;
    if (!change_account(work, old, to, every_role, &replaced, error) ||
        !move_all(work, from, to, every_role ? 0 : MEMBER_ROLES, error))
        return false;
    /* Nobody signs in by the old address to what the person has. */
    if (replaced && (!address_unlink(store, from, error) || !address_set_verified(store, from, 0, error) ||
                     !session_end(store, from, 0, 0, error)))
        return false;
    if ((!every_role && !tell_owners(work, from->text, to->text, error)) ||
        ((request->facts & FACT_CONFIRMED) && !address_set_verified(store, to, work_now(work), error)))
        return false;
    *result = SUBSCRIPTION_DONE;
    const TemplateValue values[] = {{"address", from->text}, {"new_address", to->text}, {0}};
    ListLetter told = {.template = "address_changed", .values = values, .to = to->text};
    return subscription_end(work, request, error) && work_letter(work, list, &told, error);
}

bool change_address_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error)
{
    Store *store = work_store(work);
    const TemplateValue values[] = {{"new_address", request->detail}, {"address", request->address->text}, {0}};
    g_autoptr(Mailbox) new = mailbox_new(request->detail);
    TokenLetter old_is_asked = {"confirm_change_old", request->address, values, false};
    TokenLetter new_is_asked = {"confirm_change_new", new, values, false};
    TokenLetter new_is_told = {"address_taken", new, values, true};
    bool done, owns = false, taken = false;
    g_autoptr(KnownAddress) old = NULL;
    if (!address_look_up(store, request->address, &old, error))
        return false;
    /* It is the operator's alone if the person owns a place, or if the new address has an account of its own. That is
     * asked at each step, for either may have come about meanwhile. */
    if (old && !(request->facts & FACT_EVERY_ROLE) &&
        ((*old->user_id && !user_owns_place(store, old->user_id, &owns, error)) ||
         !user_is_another(store, new, old->user_id, &taken, error)))
        return false;

    if (!old || owns) { /* the address may be gone by the time that a letter is answered */
        subscription->result = owns ? SUBSCRIPTION_REFUSED : SUBSCRIPTION_NO_CHANGE;
        done = subscription_end(work, request, error);
    } else if (!(request->facts & FACT_APPROVED)) {
        done = subscription_send_token(work, list, request, &old_is_asked, &subscription->result, error);
    } else if (!(request->facts & FACT_CONFIRMED)) {
        /* The asker learns nothing about accounts: only the letter differs, and nobody gets its token. */
        done = subscription_send_token(work, list, request, taken ? &new_is_told : &new_is_asked,
                                       &subscription->result, error);
    } else if (taken) { /* it has got an account of its own since it was asked */
        ListLetter told = {.template = "address_taken",
                           .values = values,
                           .from = work_site(work)->site_owner,
                           .to = request->detail,
                           .personal = true};
        subscription->result = SUBSCRIPTION_TAKEN;
        done = subscription_end(work, request, error) && work_letter(work, list, &told, error);
    } else {
        done = do_change(work, list, request, old, &subscription->result, error);
    }
    if (done)
        subscription_note(work, list, request, subscription);
    return done;
}

bool change_address_ask(Work *work, const List *list, const AddressChange *change, Subscription *subscription,
                        GError **error)
{
    bool found;
    g_autoptr(Pending) there = NULL;
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_ADDRESS, .kind = PENDING_CHANGE_ADDRESS};
    ListAddress *which = NULL;
    bool valid = change->old_address->valid && change->new_address->legible;
    if (valid && !own_address_find(work, change->new_address->text, &which, error))
        return false;
    g_autoptr(ListAddress) own = which;
    if (!valid || own) {
        if (own)
            subscription->result = SUBSCRIPTION_OWN_ADDRESS;
        subscription->address = g_strdup(change->new_address->text);
        return true;
    }
    Pending request = {.kind = PENDING_CHANGE_ADDRESS,
                       .list_id = list->list_id,
                       .address = change->old_address,
                       .detail = change->new_address->text,
                       .delivery_mode = -1,
                       .delivery_status = -1,
                       .made_at = work_now(work),
                       .facts = (change->old_agreed ? FACT_APPROVED : 0) | (change->new_agreed ? FACT_CONFIRMED : 0) |
                                (work_actor(work)->role == ACTOR_OPERATOR ? FACT_EVERY_ROLE : 0)};
    MemberCriteria moving = MEMBER_CRITERIA_ALL;
    moving.address = change->old_address->text;
    moving.roles = request.facts & FACT_EVERY_ROLE ? 0 : MEMBER_ROLES;
    if (!is_any(work, &moving, &found, error) ||
        !pending_find_like(work_store(work), &request, work_now(work), &there, error))
        return false;
    request.number = there ? there->number : 0;
    if (!found || strcmp(change->old_address->folded, change->new_address->folded) == 0)
        subscription->result = SUBSCRIPTION_NO_CHANGE;
    else if (there && g_strcmp0(there->detail, request.detail) == 0 && request.facts == 0 &&
             work_now(work) - there->asked_at < SUBSCRIPTION_ASK_AGAIN)
        subscription->result = SUBSCRIPTION_PERSON_WAITS;
    else
        return change_address_advance(work, list, &request, subscription, error);
    subscription_note(work, list, &request, subscription);
    return true;
}
