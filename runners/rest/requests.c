/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /lists/{list}/requests: who asked to join or to leave and waits for an answer. */
#include <string.h>

#include "base/fail.h"
#include "lists/request.h"
#include "runners/rest/resources.h"
#include "runners/rest/subscriptions.h"
#include "store/user.h"

/* Who gave no name with the request may have one, which is for the site to know. */
static bool add_name(const Call *call, Store *store, json_t *request, GError **error)
{
    g_autoptr(GError) missing = NULL;
    if (*json_string_value(json_object_get(request, "display_name")) || !authority_covers(MAY_NAME, call->by))
        return true;
    g_autoptr(KnownAddress) known = address_find(store, json_string_value(json_object_get(request, "email")), &missing);
    if (known && known->display_name)
        json_object_set_new(request, "display_name", json_words(known->display_name));
    if (known || g_error_matches(missing, FAIL, FAIL_MISSING))
        return true;
    g_propagate_error(error, g_steal_pointer(&missing));
    return false;
}

static json_t *request_json(const Pending *pending)
{
    g_autofree char *token = request_token(pending->number);
    return json_pack("{so so so ss ss ss so}", "display_name",
                     json_words(pending->display_name ? pending->display_name : ""), "email",
                     json_email(pending->address), "list_id", json_words(pending->list_id), "token", token,
                     "token_owner", pending->waits_for == PENDING_MODERATOR ? "moderator" : "subscriber", "type",
                     pending->kind == PENDING_JOIN ? "subscription" : "unsubscription", "when",
                     json_time(pending->made_at));
}

enum { OWNER_NO_ONE, OWNER_SUBSCRIBER, OWNER_MODERATOR };
enum { TYPE_SUBSCRIPTION, TYPE_UNSUBSCRIPTION };

typedef struct RequestWalk {
    int owner; /* -1: any */
    int type;
    Paging paging;
    json_t *entries; /* of the page */
    int64_t total;
} RequestWalk;

static bool gather(const Pending *pending, void *data)
{
    RequestWalk *walk = data;
    int owner = pending->waits_for == PENDING_MODERATOR ? OWNER_MODERATOR : OWNER_SUBSCRIBER;
    PendingKind kind = walk->type == TYPE_SUBSCRIPTION ? PENDING_JOIN : PENDING_LEAVE;
    if (pending->kind != kind || (walk->owner >= 0 && walk->owner != owner))
        return true;
    if (walk->total++ >= walk->paging.start && json_array_size(walk->entries) < walk->paging.count)
        json_array_append_new(walk->entries, request_json(pending));
    return true;
}

/* Walks the requests that the parameters ask for. False: it was answered. */
static bool read_requests(Call *call, RequestWalk *walk)
{
    GError *error = NULL;
    *walk = (RequestWalk){.owner = -1, .type = TYPE_SUBSCRIPTION};
    g_autoptr(List) list = form_expect(call, "", "token_owner request_type count page") &&
                                   form_choice(call, "token_owner", "no_one, subscriber, moderator", &walk->owner) &&
                                   form_choice(call, "request_type", "subscription, unsubscription", &walk->type) &&
                                   form_paging(call, &walk->paging)
                               ? rest_list(call, 0)
                               : NULL;
    if (!list)
        return false;
    walk->entries = json_array();
    if (pending_each(call->rest->store, list->list_id, g_get_real_time(), gather, walk, &error))
        return true;
    json_decref(walk->entries);
    rest_fail(call, error);
    return false;
}

static void get_all(Call *call)
{
    RequestWalk walk;
    GError *error = NULL;
    if (!read_requests(call, &walk))
        return;
    for (size_t at = 0; at < json_array_size(walk.entries) && !error; at++)
        add_name(call, call->rest->store, json_array_get(walk.entries, at), &error);
    if (!error) {
        answer_collection(call, walk.entries, walk.total, walk.paging.start);
        return;
    }
    json_decref(walk.entries);
    rest_fail(call, error);
}

static void get_count(Call *call)
{
    RequestWalk walk;
    if (!read_requests(call, &walk))
        return;
    answer_json(call, 200, json_pack("{sI}", "count", (json_int_t)walk.total));
    json_decref(walk.entries);
}

/* Whoever has a list decides who is on it. Other requests are answered by their persons alone: with a change of address
 * their other lists, and the roles that they have there, go along. */
static bool is_of_list(const Pending *pending, const List *list)
{
    return (pending->kind == PENDING_JOIN || pending->kind == PENDING_LEAVE) &&
           strcmp(pending->list_id, list->list_id) == 0;
}

/* The request of the path; NULL: 404 was answered. */
static Pending *find(Call *call, Store *store, int64_t now)
{
    int64_t number;
    GError *error = NULL;
    g_autoptr(List) list = rest_list(call, 0);
    if (!list)
        return NULL;
    Pending *pending = request_number(call->args[1], &number) ? pending_find(store, number, now, &error) : NULL;
    if (pending && is_of_list(pending, list))
        return pending;
    if (error)
        rest_fail(call, error);
    else
        answer_refusal(call, 404, "There is no such request on this list");
    pending_free(pending);
    return NULL;
}

static void get_one(Call *call)
{
    Store *store = rest_store(call);
    g_autoptr(Pending) pending = store ? find(call, store, g_get_real_time()) : NULL;
    g_autoptr(json_t) request = pending ? request_json(pending) : NULL;
    GError *error = NULL;
    if (!request)
        return;
    if (add_name(call, store, request, &error))
        answer_json(call, 200, g_steal_pointer(&request));
    else
        rest_fail(call, error);
}

/* One that waits for its person is not the moderators' yet: to accept it is to confirm it in the person's place, to
 * reject it is to drop it. */
static bool decide(Work *work, const Pending *pending, RequestVerdict verdict, const char *reason, GError **error)
{
    g_auto(Subscription) made = {0};
    if (pending->waits_for == PENDING_PERSON && verdict == REQUEST_DEFER)
        return true;
    if (pending->waits_for == PENDING_PERSON && verdict == REQUEST_REJECT)
        verdict = REQUEST_DISCARD;
    if (pending->waits_for == PENDING_PERSON && verdict == REQUEST_ACCEPT)
        verdict = REQUEST_CONFIRM;
    return request_decide(work, pending->number, verdict, reason, &made, error);
}

static void post(Call *call)
{
    static const RequestVerdict verdicts[] = {[ACTION_ACCEPT] = REQUEST_ACCEPT, [ACTION_REJECT] = REQUEST_REJECT,
                                              [ACTION_DISCARD] = REQUEST_DISCARD, [ACTION_DEFER] = REQUEST_DEFER,
                                              [ACTION_HOLD] = REQUEST_DEFER};
    GError *error = NULL;
    int action = ACTION_DEFER;
    if (!form_expect(call, "action", "reason") || !form_choice(call, "action", FORM_ACTIONS, &action))
        return;
    g_autoptr(Work) work = rest_begin(call);
    if (!work)
        return;
    g_autoptr(Pending) pending = find(call, work_store(work), work_now(work));
    const char *reason = form_text(call, "reason");
    if (pending)
        rest_finish(call, work, decide(work, pending, verdicts[action], reason && *reason ? reason : NULL, &error),
                    &error);
}

static const RestField fields[] = {
    {"display_name", MAY_LIST, MAY_NOBODY},
    {"email", MAY_LIST, MAY_NOBODY},
    {"list_id", MAY_LIST, MAY_NOBODY},
    {"token", MAY_LIST, MAY_NOBODY},
    {"type", MAY_LIST, MAY_NOBODY},
    {"when", MAY_LIST, MAY_NOBODY},
    {"token_owner", MAY_LIST, MAY_NOBODY},
    {"request_type", MAY_LIST, MAY_NOBODY},
    {"action", MAY_NOBODY, MAY_LIST},
    {"reason", MAY_NOBODY, MAY_LIST},
    {0},
};

const RestRoute rest_requests[] = {
    {"GET", "lists/{list}/requests", OF_LIST, MAY_LIST, fields, get_all, NULL},
    {"GET", "lists/{list}/requests/count", OF_LIST, MAY_LIST, fields, get_count, NULL},
    {"GET", "lists/{list}/requests/{token}", OF_LIST, MAY_LIST, fields, get_one, NULL},
    {"POST", "lists/{list}/requests/{token}", OF_LIST, MAY_LIST, fields, post, NULL},
    {0},
};
