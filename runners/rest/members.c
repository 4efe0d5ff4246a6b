/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /members: who is subscribed to what, in which role; joining and leaving. The same of one list:
 * /lists/{list}/roster/{role}, and /lists/{list}/{role}/{address}. */
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/people/join.h"
#include "lists/people/leave.h"
#include "lists/people/people.h"
#include "lists/people/roster.h"
#include "runners/rest/resources.h"
#include "store/people/ban.h"

#define PEOPLE (1u << ROLE_MEMBER | 1u << ROLE_OWNER | 1u << ROLE_MODERATOR)

/* ---- showing ---- */

/* Mailman's word for a time that never was. */
#define NEVER "0001-01-01T00:00:00"

static json_t *member_json(const Call *call, const Member *member)
{
    const char *name = authority_covers(MAY_NAME, call->by) ? member->display_name : member->given_name;
    g_autofree char *email = g_utf8_strdown(member->address, -1);
    g_autofree char *id = id_text(call, member->id), *address = segment(email);
    json_t *object = json_pack("{so ss so so so ss ss so ss}", "address", json_link(call, "addresses/%s", address),
                               "delivery_mode", delivery_mode_text((DeliveryMode)member->effective.delivery_mode),
                               "display_name", json_words(name), "email", json_words(email), "list_id",
                               json_words(member->list_id), "member_id", id, "role", role_text(member->role),
                               "self_link", json_link(call, "members/%s", id), "subscription_mode",
                               member->as_user ? "as_user" : "as_address");
    Action action = member_action(member->role, member->moderation_action);
    if (action != ACTION_UNSET)
        json_object_set_new(object, "moderation_action", json_string(action_text(action)));
    if (*member->user_id) {
        g_autofree char *user = id_text(call, member->user_id);
        json_object_set_new(object, "user", json_link(call, "users/%s", user));
    }
    json_object_set_new(object, "bounce_score", json_integer(member->bounce_score / 100));
    json_object_set_new(object, "last_warning_sent",
                        member->warned_at > 0 ? json_time(member->warned_at) : json_string(NEVER));
    json_object_set_new(object, "total_warnings_sent", json_integer(member->warnings));
    if (member->bounced_at > 0)
        json_object_set_new(object, "last_bounce_received", json_time(member->bounced_at));
    return object;
}

/* ---- choosing ---- */

void criteria_subscriber(Call *call, MemberCriteria *criteria, char id[STORE_ID_SIZE])
{
    const char *subscriber = form_text(call, "subscriber");
    criteria->given_names = !authority_covers(MAY_NAME, call->by);
    if (!subscriber || !*subscriber)
        return;
    if (!strchr(subscriber, '@') && id_parse(call, subscriber, id))
        criteria->user_id = id;
    else
        criteria->subscriber = subscriber;
}

bool criteria_role(Call *call, MemberCriteria *criteria)
{
    int role = -1;
    if (!form_is_empty(call, "role") && !form_choice(call, "role", FORM_ROLES, &role))
        return false;
    if (role >= 0)
        criteria->roles = 1u << role;
    return true;
}

/* The place in the members that fit that the answer has reached. */
typedef struct MemberWalk {
    MemberCriteria criteria; /* its strings are the walk's own */
    char **fields;           /* of each member; none: all */
    char *after; /* NULL: at the first */
} MemberWalk;

static void walk_free(void *data)
{
    MemberWalk *walk = data;
    g_free((char *)walk->criteria.list_id);
    g_free((char *)walk->criteria.address);
    g_free((char *)walk->criteria.subscriber);
    g_free((char *)walk->criteria.user_id);
    g_strfreev(walk->fields);
    g_free(walk->after);
    g_free(walk);
}

static bool walk_read(const Call *call, void *data, unsigned most, json_t *entries, GError **error)
{
    MemberWalk *walk = data;
    char *next = NULL;
    if (most == 0)
        return true;
    g_autoptr(GPtrArray) members = member_page(call->store, &walk->criteria, walk->after, most, &next, error);
    if (!members)
        return false;
    g_free(walk->after);
    walk->after = next;
    for (guint i = 0; i < members->len; i++) {
        g_autoptr(json_t) member = member_json(call, members->pdata[i]), object = json_object();
        for (char **field = walk->fields; *field; field++)
            if (json_object_get(member, *field))
                json_object_set(object, *field, json_object_get(member, *field));
        json_array_append(entries, *walk->fields ? object : member);
    }
    return true;
}

void answer_members(Call *call, const MemberCriteria *criteria)
{
    static const char *const known[] = {"address",
                                        "bounce_score",
                                        "last_bounce_received",
                                        "last_warning_sent",
                                        "total_warnings_sent",
                                        "delivery_mode",
                                        "email",
                                        "list_id",
                                        "subscription_mode",
                                        "role",
                                        "user",
                                        "moderation_action",
                                        "display_name",
                                        "self_link",
                                        "member_id",
                                        NULL};
    static const LongCollection kind = {500, walk_read, walk_free};
    Paging paging;
    GError *error = NULL;
    int64_t total;
    if (!form_paging(call, &paging))
        return;
    g_auto(GStrv) fields = form_words(call, "fields");
    for (char **field = fields; *field; field++)
        if (!g_strv_contains(known, *field)) {
            g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)known);
            answer_refusal(call, 400, "Unknown field \"%s\" for Member resource. Allowed fields are: %s", *field, all);
            return;
        }
    if (!member_matching(call->store, criteria, &total, &error)) {
        if (!g_error_matches(error, FAIL, FAIL_MISSING)) { /* the members of a list that is not there are none */
            rest_fail(call, error);
            return;
        }
        g_clear_error(&error);
        total = 0;
    }
    MemberWalk *walk = g_new(MemberWalk, 1);
    *walk = (MemberWalk){*criteria, g_steal_pointer(&fields), NULL};
    walk->criteria.list_id = g_strdup(criteria->list_id);
    walk->criteria.address = g_strdup(criteria->address);
    walk->criteria.subscriber = g_strdup(criteria->subscriber);
    walk->criteria.user_id = g_strdup(criteria->user_id);
    walk->criteria.skip = paging.start;
    answer_long(call, &kind, walk, total, &paging);
}

static void get_all(Call *call)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.roles = PEOPLE;
    if (form_expect(call, "", "count page fields"))
        answer_members(call, &criteria);
}

/* A search that names nothing finds nobody. An empty moderation_action names those who have none. */
static void find(Call *call)
{
    static const char *const names[] = {"list_id", "subscriber", "role", "delivery_mode", "delivery_status"};
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    Paging nothing;
    char id[STORE_ID_SIZE];
    bool of_none = form_has(call, "moderation_action") && form_is_empty(call, "moderation_action");
    criteria.by_address = true;
    criteria.list_id = form_text(call, "list_id");
    if (!form_expect(call, "",
                     "list_id subscriber role moderation_action delivery_mode delivery_status count page fields") ||
        !criteria_role(call, &criteria) ||
        (!of_none && !form_choice(call, "moderation_action", FORM_ACTIONS, &criteria.moderation_action)) ||
        !form_delivery(call, &criteria.delivery_mode, &criteria.delivery_status))
        return;
    if (of_none)
        criteria.moderation_action = ACTION_UNSET;
    criteria_subscriber(call, &criteria, id);
    bool any = form_has(call, "moderation_action");
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++)
        any |= !form_is_empty(call, names[at]);
    if (any)
        answer_members(call, &criteria);
    else if (form_paging(call, &nothing))
        answer_collection(call, json_array(), 0, 0);
}

/* ---- the members of a list, by their role ---- */

/* The role of the second argument; false: 404 was answered. */
static bool role_of(Call *call, Role *role)
{
    if (role_parse(call->args[1], role))
        return true;
    answer_refusal(call, 404, "There is no role %s", call->args[1]);
    return false;
}

static void get_roster(Call *call)
{
    Role role;
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    g_autoptr(List) list = role_of(call, &role) ? rest_list(call) : NULL;
    if (!list || !form_expect(call, "", "count page fields"))
        return;
    criteria.list_id = list->list_id;
    criteria.roles = 1u << role;
    criteria.by_address = true;
    answer_members(call, &criteria);
}

/* Only members go in bulk, and without being asked, for this door is the operator's: for other roles it is answered
 * that nobody went. */
static void delete_roster(Call *call)
{
    Role role;
    GError *error = NULL;
    g_autoptr(List) list = role_of(call, &role) ? rest_list(call) : NULL;
    if (!list || !form_expect(call, "emails", ""))
        return;
    g_auto(GStrv) emails = form_words(call, "emails");
    g_autoptr(Work) work = rest_begin_people(call, list->list_id);
    if (!work)
        return;
    g_autoptr(json_t) result = json_object();
    for (char **email = emails; *email; email++) {
        g_auto(Subscription) made = {0};
        g_autoptr(Mailbox) address = mailbox_new(*email);
        bool before = json_is_true(json_object_get(result, *email)); /* one may be named twice */
        if (role == ROLE_MEMBER &&
            !leave_ask(work, list, address, FACT_VERIFIED | FACT_CONFIRMED | FACT_APPROVED, &made, &error)) {
            rest_fail(call, error);
            return;
        }
        bool gone = role == ROLE_MEMBER && made.result == SUBSCRIPTION_DONE;
        json_object_set_new(result, *email, json_boolean(gone || before));
    }
    if (rest_commit(call, work))
        answer_json(call, 200, json_incref(result));
}

/* ---- one ---- */

Member *find_member(Call *call)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    Member *member = id_parse(call, call->args[0], id) ? member_by_id(call->store, id, &error) : NULL;
    if (!member && !error)
        answer_refusal(call, 404, "There is no member %s", call->args[0]);
    if (!member)
        rest_fail(call, error);
    return member;
}

/* The member whom the path names, by id, or by list, role and address; NULL: 404 or 503 was answered. */
static Member *find_one(Call *call)
{
    Role role;
    GError *error = NULL;
    if (call->route->of == OF_MEMBER)
        return find_member(call);
    g_autoptr(List) list = role_of(call, &role) ? rest_list(call) : NULL;
    g_autoptr(Mailbox) address = list ? mailbox_new(call->args[2]) : NULL;
    Member *member = list ? member_find(call->store, list->list_id, role, address, &error) : NULL;
    if (!member)
        rest_fail(call, error);
    return member;
}

static void get_one(Call *call)
{
    g_autoptr(Member) member = find_one(call);
    if (member)
        answer_json(call, 200, member_json(call, member));
}

/* A member goes on by another address of the same user, which must have been shown to be the person's. False: the call
 * was answered. */
static bool address_fits(Call *call, Store *store, const Member *member, const Mailbox *address)
{
    GError *error = NULL;
    g_autoptr(KnownAddress) known = address_find(store, address, &error);
    if (!known) {
        if (rest_missing(call, error))
            answer_refusal(call, 400, "Address not registered");
        return false;
    }
    if (known->verified_at == 0)
        answer_refusal(call, 400, "Unverified address");
    else if (strcmp(known->user_id, member->user_id) != 0)
        answer_refusal(call, 400, "Address is not controlled by user");
    else
        return true;
    return false;
}

static void patch(Call *call)
{
    g_autoptr(Mailbox) address = mailbox_new(form_text(call, "address"));
    int mode = -1, action = ACTION_UNSET; /* as the list says */
    GError *error = NULL;
    g_autoptr(Member) known = find_one(call);
    if (!known || !form_expect(call, "", "address delivery_mode moderation_action") ||
        !form_choice(call, "delivery_mode", FORM_MODES, &mode) ||
        (!form_is_empty(call, "moderation_action") && !form_choice(call, "moderation_action", FORM_ACTIONS, &action)))
        return;
    g_autoptr(Work) work = rest_begin_people(call, known->list_id);
    if (!work)
        return;
    /* Read once more: what others changed since must stay. */
    g_autoptr(Member) member = member_by_id(work_store(work), known->id, &error);
    if (!member) {
        rest_fail(call, error);
        return;
    }
    if (address && !address_fits(call, work_store(work), member, address))
        return;
    Preferences own = member->own;
    own.delivery_mode = mode;
    bool done = (mode < 0 || people_set_preferences(work, PREFERENCES_OF_MEMBER, member->id, &own, &error)) &&
                (!form_has(call, "moderation_action") || people_set_moderation(work, member, (Action)action, &error)) &&
                (!address || roster_move(work, member, address, &error));
    rest_finish(call, work, done, &error);
}

/* ---- subscribing ---- */

typedef struct Wish {
    const char *list_id, *subscriber;
    const char *posting_address;
    const char *name; /* NULL: none was given */
    int role;         /* a Role */
    bool pre_verified, pre_confirmed, pre_approved, invitation;
    bool has_welcome, welcome;
    bool for_all;     /* the caller may say whose an address is, for all lists */
    bool names;       /* and what the person is called there */
    int mode, status; /* -1: not given */
    bool as_user;
    Mailbox *address; /* of the subscriber */
} Wish;

static void wish_clear(Wish *wish)
{
    mailbox_free(wish->address);
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
        wish->address = mailbox_new(wish->subscriber);
        return wish->address->valid ||
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
    wish->address = mailbox_new(user->preferred);
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
    const RosterEntry entry = {
        .role = wish->role, .address = wish->address, .name = wish->name, .own = &own, .as_user = wish->as_user};
    if (people_register(work, wish->address, wish->name, wish->names, &error) &&
        roster_add(work, wish->list_id, &entry, &error)) {
        answer_member(call, work, wish, wish->role);
        return;
    }
    if (g_error_matches(error, FAIL, FAIL_EXISTS)) {
        answer_refusal(call, 400, "%s is already %s %s of %s", wish->address->text,
                       wish->role == ROLE_OWNER ? "an" : "a", role_text(wish->role), wish->posting_address);
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
        answer_refusal(call, 429, "%s got as many letters today as it may; try again tomorrow", wish->address->text);
        break;
    default:
        answer_refusal(call, 400, "%s cannot become a member: %s", wish->address->text,
                       subscription_result_text(made.result));
    }
}

/* Make somebody a member, an owner, a moderator or a nonmember, or let them ask to become a member. */
static void subscribe(Call *call)
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

/* Let the person of the path go, in whatever role: a member leaves, or asks to leave; owners, moderators and nonmembers
 * are removed. */
static void unsubscribe(Call *call)
{
    GError *error = NULL;
    bool confirmed = true, approved = false;
    g_autoptr(Member) member = find_one(call);
    if (!member || !form_expect(call, "", "pre_confirmed pre_approved") ||
        !form_bool(call, "pre_confirmed", &confirmed) || !form_bool(call, "pre_approved", &approved))
        return;
    g_autoptr(Work) work = rest_begin_people(call, member->list_id);
    if (!work)
        return;
    g_autoptr(Mailbox) address = mailbox_new(member->address);
    if (member->role != ROLE_MEMBER) {
        bool gone = roster_remove(work, member->list_id, member->role, address, &error);
        rest_finish(call, work, gone, &error);
        return;
    }
    g_auto(Subscription) made = {0};
    g_autoptr(List) list = list_by_id(work_store(work), member->list_id, &error);
    unsigned facts = FACT_VERIFIED | (confirmed ? FACT_CONFIRMED : 0) | (approved ? FACT_APPROVED : 0);
    if (!list || !leave_ask(work, list, address, facts, &made, &error)) {
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

/* The other addresses of a person, and what they have in common, are none of a list's business: nor which of them a
 * member is moved to, and who is named by user. */
const RestField rest_member_fields[] = {
    {"address", MAY_LIST, MAY_SITE},
    {"bounce_score", MAY_LIST, MAY_NOBODY},
    {"last_bounce_received", MAY_LIST, MAY_NOBODY},
    {"last_warning_sent", MAY_LIST, MAY_NOBODY},
    {"total_warnings_sent", MAY_LIST, MAY_NOBODY},
    {"delivery_mode", MAY_LIST, MAY_LIST},
    {"delivery_status", MAY_LIST, MAY_LIST},
    {"display_name", MAY_LIST, MAY_LIST},
    {"email", MAY_LIST, MAY_NOBODY},
    {"list_id", MAY_LIST, MAY_LIST},
    {"member_id", MAY_LIST, MAY_NOBODY},
    {"moderation_action", MAY_LIST, MAY_LIST},
    {"role", MAY_LIST, MAY_LIST},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {"subscription_mode", MAY_LIST, MAY_NOBODY},
    {"subscriber", MAY_LIST, MAY_LIST},
    {"user", MAY_SITE, MAY_SITE},
    {"invitation", MAY_NOBODY, MAY_LIST},
    {"pre_approved", MAY_NOBODY, MAY_LIST},
    {"pre_confirmed", MAY_NOBODY, MAY_LIST},
    {"pre_verified", MAY_NOBODY, MAY_LIST},
    {"send_welcome_message", MAY_NOBODY, MAY_LIST},
    {"token", MAY_LIST, MAY_NOBODY},
    {"token_owner", MAY_LIST, MAY_NOBODY},
    {0},
};

/* The answer has an address as the name of each field. */
static const RestField bulk_fields[] = {
    {"emails", MAY_NOBODY, MAY_LIST},
    {"*", MAY_LIST, MAY_NOBODY},
    {0},
};

const RestRoute rest_members[] = {
    {"GET", "members", OF_SITE, MAY_SITE, rest_member_fields, get_all, NULL},
    {"POST", "members", OF_NAMED_LIST, MAY_LIST, rest_member_fields, subscribe, NULL},
    {"GET", "members/find", OF_NAMED_LIST, MAY_LIST, rest_member_fields, find, NULL},
    {"POST", "members/find", OF_NAMED_LIST, MAY_LIST, rest_member_fields, find, NULL},
    {"GET", "members/{member}", OF_MEMBER, MAY_LIST, rest_member_fields, get_one, NULL},
    {"PATCH", "members/{member}", OF_MEMBER, MAY_LIST, rest_member_fields, patch, NULL},
    {"DELETE", "members/{member}", OF_MEMBER, MAY_LIST, rest_member_fields, unsubscribe, NULL},
    {"GET", "lists/{list}/roster/{role}", OF_LIST, MAY_LIST, rest_member_fields, get_roster, NULL},
    {"DELETE", "lists/{list}/roster/{role}", OF_LIST, MAY_LIST, bulk_fields, delete_roster, NULL},
    {"GET", "lists/{list}/{role}/{address}", OF_LIST, MAY_LIST, rest_member_fields, get_one, NULL},
    {"PATCH", "lists/{list}/{role}/{address}", OF_LIST, MAY_LIST, rest_member_fields, patch, NULL},
    {"DELETE", "lists/{list}/{role}/{address}", OF_LIST, MAY_LIST, rest_member_fields, unsubscribe, NULL},
    {0},
};
