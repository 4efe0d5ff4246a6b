/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The members of one list by their role: /lists/{list}/roster/{role}, and /lists/{list}/{role}/{address}. */
#include <string.h>

#include "base/fail.h"
#include "lists/leave.h"
#include "lists/workflow.h"
#include "runners/rest/resources.h"
#include "runners/rest/subscriptions.h"

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
    g_autoptr(List) list = role_of(call, &role) ? rest_list(call, 0) : NULL;
    if (!list || !form_expect(call, "", "count page fields"))
        return;
    criteria.list_id = list->list_id;
    criteria.roles = 1u << role;
    criteria.by_address = true;
    answer_members(call, &criteria);
}

/* Without being asked, for this door is the operator's. *gone: was there, and is no more. */
static bool remove_one(Work *work, const List *list, const char *address, bool *gone, GError **error)
{
    g_auto(Subscription) made = {0};
    if (!leave_ask(work, list, address, FACT_VERIFIED | FACT_CONFIRMED | FACT_APPROVED, &made, error))
        return false;
    *gone = made.result == SUBSCRIPTION_DONE;
    return true;
}

/* Only members go in bulk: for other roles it is answered that nobody went. */
static void delete_roster(Call *call)
{
    Role role;
    GError *error = NULL;
    g_autoptr(List) list = role_of(call, &role) ? rest_list(call, 0) : NULL;
    if (!list || !form_expect(call, "emails", ""))
        return;
    g_auto(GStrv) emails = form_words(call, "emails");
    g_autoptr(Work) work = rest_begin(call);
    if (!work)
        return;
    g_autoptr(json_t) result = json_object();
    for (char **email = emails; *email; email++) {
        bool gone = false, before = json_is_true(json_object_get(result, *email)); /* one may be named twice */
        if (role == ROLE_MEMBER && !remove_one(work, list, *email, &gone, &error)) {
            rest_fail(call, error);
            return;
        }
        json_object_set_new(result, *email, json_boolean(gone || before));
    }
    if (rest_commit(call, work))
        answer_json(call, 200, json_incref(result));
}

/* The member whom the path names; NULL: 404 was answered. */
static Member *find(Call *call)
{
    Role role;
    GError *error = NULL;
    g_autoptr(List) list = role_of(call, &role) ? rest_list(call, 0) : NULL;
    Member *member = list ? member_find(call->rest->store, list->list_id, role, call->args[2], &error) : NULL;
    if (list && !member)
        rest_fail(call, error);
    return member;
}

static void get_one(Call *call)
{
    g_autoptr(Member) member = find(call);
    if (member)
        answer_json(call, 200, member_json(call, member));
}

static void delete_one(Call *call)
{
    g_autoptr(Member) member = find(call);
    if (member)
        unsubscribe(call, member);
}

static void patch_one(Call *call)
{
    g_autoptr(Member) member = find(call);
    if (member)
        change_member(call, member);
}

/* The answer has an address as the name of each field. */
static const RestField bulk_fields[] = {
    {"emails", MAY_NOBODY, MAY_LIST},
    {"*", MAY_LIST, MAY_NOBODY},
    {0},
};

const RestRoute rest_rosters[] = {
    {"GET", "lists/{list}/roster/{role}", OF_LIST, MAY_LIST, rest_member_fields, get_roster, NULL},
    {"DELETE", "lists/{list}/roster/{role}", OF_LIST, MAY_LIST, bulk_fields, delete_roster, NULL},
    {"GET", "lists/{list}/{role}/{address}", OF_LIST, MAY_LIST, rest_member_fields, get_one, NULL},
    {"PATCH", "lists/{list}/{role}/{address}", OF_LIST, MAY_LIST, rest_member_fields, patch_one, NULL},
    {"DELETE", "lists/{list}/{role}/{address}", OF_LIST, MAY_LIST, rest_member_fields, delete_one, NULL},
    {0},
};
