/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /lists/{list}/requests: who asked to join or to leave and waits for an answer. */
#include <string.h>

#include "base/fail.h"
#include "lists/people/request.h"
#include "runners/rest/resources.h"
#include "runners/rest/subscriptions.h"
#include "store/people/user.h"

/* Add the name that the site knows for an address whose request has none. Only the site may see it. False: error is
 * set. */
static bool add_name(const Call *call, Store *store, json_t *request, GError **error)
{
    g_autoptr(KnownAddress) known = NULL;
    if (*json_string_value(json_object_get(request, "display_name")) || !authority_covers(MAY_NAME, call->by))
        return true;
    if (!address_look_up(store, json_string_value(json_object_get(request, "email")), &known, error))
        return false;
    if (known && known->display_name)
        json_object_set_new(request, "display_name", json_words(known->display_name));
    return true;
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
    Page page;
} RequestWalk;

static bool gather(const Pending *pending, void *data)
{
    RequestWalk *walk = data;
    int owner = pending->waits_for == PENDING_MODERATOR ? OWNER_MODERATOR : OWNER_SUBSCRIBER;
    PendingKind kind = walk->type == TYPE_SUBSCRIPTION ? PENDING_JOIN : PENDING_LEAVE;
    bool fits = pending->kind == kind && (walk->owner < 0 || walk->owner == owner);
    if (fits && page_takes(&walk->page))
        page_add(&walk->page, request_json(pending));
    return true;
}

/* Walk the requests that the parameters ask for. Failure: it was answered, or error is set. */
static void read_requests(Call *call, RequestWalk *walk, GError **error)
{
    *walk = (RequestWalk){.owner = -1, .type = TYPE_SUBSCRIPTION};
    g_autoptr(List) list = page_begin(call, "", "token_owner request_type", &walk->page) &&
                                   form_choice(call, "token_owner", "no_one, subscriber, moderator", &walk->owner) &&
                                   form_choice(call, "request_type", "subscription, unsubscription", &walk->type)
                               ? rest_list(call)
                               : NULL;
    if (list)
        pending_each(call->rest->store, list->list_id, g_get_real_time(), gather, walk, error);
}

static void get_all(Call *call)
{
    RequestWalk walk;
    GError *error = NULL;
    read_requests(call, &walk, &error);
    for (size_t at = 0; at < json_array_size(walk.page.entries) && !error; at++)
        add_name(call, call->rest->store, json_array_get(walk.page.entries, at), &error);
    answer_page(call, NULL, &walk.page, &error);
    page_clear(&walk.page);
}

static void get_count(Call *call)
{
    RequestWalk walk;
    GError *error = NULL;
    read_requests(call, &walk, &error);
    bool read = !error && !call->answered;
    answer_found(call, read ? json_pack("{sI}", "count", (json_int_t)walk.page.total) : NULL, &error);
    page_clear(&walk.page);
}

/* Tell whether the list decides on the request. It decides who is on it; other requests are answered by their persons
 * alone, since with a change of address their other lists, and the roles that they have there, go along. */
static bool is_of_list(const Pending *pending, const List *list)
{
    return (pending->kind == PENDING_JOIN || pending->kind == PENDING_LEAVE) &&
           strcmp(pending->list_id, list->list_id) == 0;
}

/* The request of the path; NULL: 404 was answered. */
static Pending *find(Call *call, int64_t now)
{
    int64_t number;
    GError *error = NULL;
    g_autoptr(List) list = rest_list(call);
    if (!list)
        return NULL;
    bool named = request_number(call->args[1], &number);
    Pending *pending = named ? pending_find(call->rest->store, number, now, &error) : NULL;
    if (pending && is_of_list(pending, list))
        return pending;
    if (!error)
        answer_refusal(call, 404, "There is no such request on this list");
    rest_fail(call, error);
    pending_free(pending);
    return NULL;
}

static void get_one(Call *call)
{
    g_autoptr(Pending) pending = find(call, g_get_real_time());
    g_autoptr(json_t) request = pending ? request_json(pending) : NULL;
    GError *error = NULL;
    if (!request)
        return;
    if (add_name(call, call->rest->store, request, &error))
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
    g_autoptr(Pending) pending = work ? find(call, work_now(work)) : NULL;
    const char *reason = form_is_empty(call, "reason") ? NULL : form_text(call, "reason");
    rest_finish(call, work, pending && decide(work, pending, verdicts[action], reason, &error), &error);
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
