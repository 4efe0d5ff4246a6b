/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/rest/subscriptions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/people/join.h"
#include "lists/people/leave.h"
#include "lists/people/people.h"
#include "lists/people/roster.h"
#include "lists/people/workflow.h"
#include "runners/rest/resources.h"
#include "store/people/ban.h"

/* ---- tokens: 24 digits that depend on the 16 that follow, so that a mistyped one is found out ---- */

#define CHECK_DIGITS 24

char *request_token(int64_t number)
{
    g_autofree char *digits = g_strdup_printf("%016" PRIx64, (uint64_t)number);
    g_autofree char *check = g_compute_checksum_for_string(G_CHECKSUM_SHA1, digits, -1);
    return g_strdup_printf("%.*s%s", CHECK_DIGITS, check, digits);
}

bool request_number(const char *token, int64_t *number)
{
    if (strlen(token) != CHECK_DIGITS + 16)
        return false;
    *number = (int64_t)strtoull(token + CHECK_DIGITS, NULL, 16);
    g_autofree char *made = request_token(*number);
    return strcmp(made, token) == 0;
}

/* ---- subscribing ---- */

typedef struct Wish {
    const char *list_id, *subscriber;
    const char *posting_address;
    const char *name; /* NULL: none was given */
    int role; /* a Role */
    bool pre_verified, pre_confirmed, pre_approved, invitation;
    bool has_welcome, welcome;
    bool for_all; /* the caller may say whose an address is, for all lists */
    bool names;   /* and what the person is called there */
    int mode, status; /* -1: not given */
    bool as_user;
    char *address; /* of the subscriber */
} Wish;

static void wish_clear(Wish *wish)
{
    g_free(wish->address);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Wish, wish_clear)

static bool read_wish(Call *call, Wish *wish)
{
    wish->list_id = form_text(call, "list_id");
    wish->subscriber = form_text(call, "subscriber");
    wish->name = form_text(call, "display_name");
    wish->mode = wish->status = -1;
    wish->for_all = authority_covers(MAY_VERIFY, call->by);
    wish->names = authority_covers(MAY_NAME, call->by);
    wish->has_welcome = form_has(call, "send_welcome_message");
    return form_choice(call, "role", FORM_ROLES, &wish->role) && form_delivery(call, &wish->mode, &wish->status) &&
           form_bool(call, "pre_verified", &wish->pre_verified) &&
           form_bool(call, "pre_confirmed", &wish->pre_confirmed) &&
           form_bool(call, "pre_approved", &wish->pre_approved) && form_bool(call, "invitation", &wish->invitation) &&
           form_bool(call, "send_welcome_message", &wish->welcome);
}

/* A subscriber is an address, or a user by the address that is preferred. False: 400 was answered. */
static bool find_subscriber(Call *call, Store *store, Wish *wish)
{
    char id[STORE_ID_SIZE];
    if (strchr(wish->subscriber, '@')) {
        wish->address = g_strdup(wish->subscriber);
        return mailbox_valid(wish->address) ||
               form_refuse(call, "subscriber", "%s is no mail address", wish->subscriber);
    }
    GError *error = NULL;
    if (!id_parse(call, wish->subscriber, id))
        return form_refuse(call, "subscriber", "%s is neither a mail address nor the id of a user", wish->subscriber);
    if (!scope_takes(call, "user")) /* the address by which the user is made a member would tell who it is */
        return false;
    g_autoptr(User) user = user_find(store, id, &error);
    if (!user) {
        if (rest_missing(call, error))
            answer_refusal(call, 400, "No such user");
        return false;
    }
    if (!user->preferred) {
        answer_refusal(call, 400, "User without preferred address");
        return false;
    }
    wish->as_user = true;
    wish->address = g_strdup(user->preferred);
    return true;
}

/* Commits, and answers with the member. It is read before the commit: behind that, others may have removed it. */
static void answer_member(Call *call, Work *work, const Wish *wish, Role role)
{
    GError *error = NULL;
    g_autoptr(Member) member = member_find(work_store(work), wish->list_id, role, wish->address, &error);
    g_autofree char *id = member ? id_text(call, member->id) : NULL;
    if (!id)
        rest_fail(call, error);
    else if (rest_commit(call, work))
        answer_created(call, "members/%s", id);
}

/* Commits, and answers with the token of the request that waits. */
static void answer_pending(Call *call, Work *work, const Subscription *made, const char *owner)
{
    g_autofree char *token = request_token(made->request);
    if (rest_commit(call, work))
        answer_json(call, 202, json_pack("{ss ss}", "token", token, "token_owner", owner));
}

/* Owners, moderators and nonmembers are not asked. */
static void add_other(Call *call, Work *work, const Wish *wish)
{
    GError *error = NULL;
    g_autofree char *ban = NULL;
    if (!ban_check(work_store(work), wish->list_id, wish->address, NULL, &ban, &error)) {
        rest_fail(call, error);
        return;
    }
    if (ban) {
        answer_refusal(call, 400, "Membership is banned");
        return;
    }
    Preferences own = preferences_unset;
    own.delivery_mode = wish->mode;
    own.delivery_status = wish->status;
    const RosterEntry entry = {.role = wish->role, .address = wish->address, .name = wish->name, .own = &own,
                               .as_user = wish->as_user};
    if (people_register(work, wish->address, wish->name, wish->names, &error) &&
        roster_add(work, wish->list_id, &entry, &error)) {
        answer_member(call, work, wish, wish->role);
        return;
    }
    if (g_error_matches(error, FAIL, FAIL_EXISTS)) {
        answer_refusal(call, 400, "%s is already %s %s of %s", wish->address, wish->role == ROLE_OWNER ? "an" : "a",
                       role_text(wish->role), wish->posting_address);
        g_error_free(error);
    } else {
        rest_fail(call, error);
    }
}

static void ask_to_join(Call *call, Work *work, const List *list, const Wish *wish)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    Preferences wants = preferences_unset;
    wants.delivery_mode = wish->mode;
    wants.delivery_status = wish->status;
    const unsigned facts = (wish->pre_verified ? FACT_VERIFIED : 0) | (wish->for_all ? 0 : FACT_VOUCHED) |
                           (wish->invitation ? FACT_INVITED : 0) |
                           (wish->invitation || wish->pre_approved ? FACT_APPROVED : 0);
    const Joiner joiner = {.address = wish->address,
                           .name = wish->name,
                           .names = wish->names,
                           .registers = true,
                           .facts = facts,
                           .wishes = wish->pre_confirmed,
                           .wants = &wants,
                           .as_user = wish->as_user,
                           .welcome = !wish->has_welcome ? WELCOME_AS_LIST
                                      : wish->welcome    ? WELCOME_YES
                                                         : WELCOME_NO};
    if (!join_ask(work, list, &joiner, &made, &error)) {
        rest_fail(call, error);
        return;
    }
    switch (made.result) {
    case SUBSCRIPTION_DONE:
        answer_member(call, work, wish, ROLE_MEMBER);
        break;
    case SUBSCRIPTION_ASKED_PERSON:
    case SUBSCRIPTION_ASKED_MODERATOR:
        answer_pending(call, work, &made, made.result == SUBSCRIPTION_ASKED_PERSON ? "subscriber" : "moderator");
        break;
    case SUBSCRIPTION_PERSON_WAITS:
    case SUBSCRIPTION_MODERATOR_WAITS:
        answer_refusal(call, 409, "Subscription request already pending");
        break;
    case SUBSCRIPTION_NO_CHANGE:
        answer_refusal(call, 409, "Member already subscribed");
        break;
    case SUBSCRIPTION_BANNED:
        answer_refusal(call, 400, "Membership is banned");
        break;
    case SUBSCRIPTION_LIMITED:
        answer_refusal(call, 429, "%s got as many letters today as it may; try again tomorrow", wish->address);
        break;
    default:
        answer_refusal(call, 400, "%s cannot become a member: %s", wish->address,
                       subscription_result_text(made.result));
    }
}

void subscribe(Call *call)
{
    g_auto(Wish) wish = {.role = ROLE_MEMBER};
    if (!form_expect(call, "list_id subscriber",
                     "display_name delivery_mode delivery_status role pre_verified pre_confirmed pre_approved "
                     "invitation send_welcome_message") ||
        !read_wish(call, &wish))
        return;
    g_autoptr(List) named = list_find(call->store, wish.list_id, NULL); /* told below where there is none */
    g_autoptr(Work) work = rest_begin_people(call, named ? named->list_id : NULL);
    if (!work)
        return;
    GError *error = NULL;
    g_autoptr(List) list = list_find(work_store(work), wish.list_id, &error);
    if (!list && rest_missing(call, error))
        answer_refusal(call, 400, "No such list");
    if (!list || !find_subscriber(call, work_store(work), &wish))
        return;
    wish.list_id = list->list_id;
    wish.posting_address = list->posting_address;
    if (wish.role == ROLE_MEMBER)
        ask_to_join(call, work, list, &wish);
    else
        add_other(call, work, &wish);
}

/* ---- unsubscribing ---- */

void unsubscribe(Call *call, const Member *member)
{
    GError *error = NULL;
    bool confirmed = true, approved = false;
    if (!form_expect(call, "", "pre_confirmed pre_approved") || !form_bool(call, "pre_confirmed", &confirmed) ||
        !form_bool(call, "pre_approved", &approved))
        return;
    g_autoptr(Work) work = rest_begin_people(call, member->list_id);
    if (!work)
        return;
    if (member->role != ROLE_MEMBER) {
        bool gone = roster_remove(work, member->list_id, member->role, member->address, &error);
        rest_finish(call, work, gone, &error);
        return;
    }
    g_auto(Subscription) made = {0};
    g_autoptr(List) list = list_by_id(work_store(work), member->list_id, &error);
    unsigned facts = FACT_VERIFIED | (confirmed ? FACT_CONFIRMED : 0) | (approved ? FACT_APPROVED : 0);
    if (!list || !leave_ask(work, list, member->address, facts, &made, &error)) {
        rest_fail(call, error);
        return;
    }
    switch (made.result) {
    case SUBSCRIPTION_DONE:
        rest_finish(call, work, true, &error);
        break;
    case SUBSCRIPTION_ASKED_PERSON:
    case SUBSCRIPTION_PERSON_WAITS:
        answer_pending(call, work, &made, "subscriber");
        break;
    case SUBSCRIPTION_ASKED_MODERATOR:
    case SUBSCRIPTION_MODERATOR_WAITS:
        answer_pending(call, work, &made, "moderator");
        break;
    default:
        answer_refusal(call, 404, "%s is no member", member->address);
    }
}
