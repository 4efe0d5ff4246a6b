/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /lists/{list}/requests: who asked to join or to leave and waits for an answer. */
#include <string.h>

#include "base/fail.h"
#include "lists/request.h"
#include "runners/rest/resources.h"
#include "runners/rest/subscriptions.h"

static json_t *request_json(const Pending *pending)
{
    g_autofree char *token = request_token(pending->number);
    return json_pack("{so so so ss ss ss so}", "display_name",
                     json_words(pending->display_name ? pending->display_name : ""), "email",
                     json_words(pending->address), "list_id", json_words(pending->list_id), "token", token,
                     "token_owner", pending->waits_for == PENDING_MODERATOR ? "moderator" : "subscriber", "type",
                     pending->kind == PENDING_JOIN ? "subscription" : "unsubscription", "when",
                     json_time(pending->made_at));
}

typedef struct Wanted {
    bool any_owner, none;
    PendingWaitsFor owner;
    PendingKind kind;
    json_t *entries;
} Wanted;

static bool read_wanted(Call *call, Wanted *wanted)
{
    const char *owner = form_text(call, "token_owner"), *type = form_text(call, "request_type");
    wanted->any_owner = owner == NULL;
    wanted->none = g_strcmp0(owner, "no_one") == 0;
    wanted->owner = g_strcmp0(owner, "moderator") == 0 ? PENDING_MODERATOR : PENDING_PERSON;
    wanted->kind = g_strcmp0(type, "unsubscription") == 0 ? PENDING_LEAVE : PENDING_JOIN;
    static const char *const owners[] = {"no_one", "subscriber", "moderator", NULL};
    static const char *const types[] = {"subscription", "unsubscription", NULL};
    if (owner && !g_strv_contains(owners, owner))
        return form_refuse(call, "token_owner", "Accepted Values are: no_one, subscriber, moderator");
    return !type || g_strv_contains(types, type) ||
           form_refuse(call, "request_type", "Accepted Values are: subscription, unsubscription");
}

static bool gather(const Pending *pending, void *data)
{
    const Wanted *wanted = data;
    if (pending->kind == wanted->kind && !wanted->none && (wanted->any_owner || pending->waits_for == wanted->owner))
        json_array_append_new(wanted->entries, request_json(pending));
    return true;
}

/* The requests that the parameters ask for; NULL: it was answered. */
static json_t *read_requests(Call *call, int64_t now)
{
    Wanted wanted;
    GError *error = NULL;
    g_autoptr(List) list = form_expect(call, "", "token_owner request_type count page") && read_wanted(call, &wanted)
                               ? rest_list(call, 0)
                               : NULL;
    if (!list)
        return NULL;
    wanted.entries = json_array();
    if (pending_each(call->rest->store, list->list_id, now, gather, &wanted, &error))
        return wanted.entries;
    json_decref(wanted.entries);
    rest_fail(call, error);
    return NULL;
}

static void get_all(Call *call)
{
    Paging paging;
    if (!form_paging(call, &paging))
        return;
    json_t *entries = read_requests(call, g_get_real_time());
    if (!entries)
        return;
    size_t total = json_array_size(entries);
    json_t *page = json_array();
    size_t at = (size_t)MIN(paging.start, (int64_t)total);
    for (; at < total && json_array_size(page) < paging.count; at++)
        json_array_append(page, json_array_get(entries, at));
    json_decref(entries);
    answer_collection(call, page, (int64_t)total, paging.start);
}

static void get_count(Call *call)
{
    json_t *entries = read_requests(call, g_get_real_time());
    if (!entries)
        return;
    answer_json(call, 200, json_pack("{sI}", "count", (json_int_t)json_array_size(entries)));
    json_decref(entries);
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
    if (pending && strcmp(pending->list_id, list->list_id) == 0)
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
    if (pending)
        answer_json(call, 200, request_json(pending));
}

static bool verdict_parse(const char *text, RequestVerdict *verdict)
{
    static const char *const names[] = {
        [REQUEST_ACCEPT] = "accept", [REQUEST_REJECT] = "reject", [REQUEST_DISCARD] = "discard",
        [REQUEST_DEFER] = "defer"};
    if (strcmp(text, "hold") == 0)
        text = "defer";
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(names[i], text) == 0) {
            *verdict = (RequestVerdict)i;
            return true;
        }
    return false;
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
    GError *error = NULL;
    RequestVerdict verdict;
    if (!form_expect(call, "action", "reason"))
        return;
    if (!verdict_parse(form_text(call, "action"), &verdict)) {
        form_refuse(call, "action", "Accepted Values are: hold, reject, discard, accept, defer");
        return;
    }
    g_autoptr(Work) work = rest_begin(call);
    if (!work)
        return;
    g_autoptr(Pending) pending = find(call, work_store(work), work_now(work));
    const char *reason = form_text(call, "reason");
    if (!pending) {
        work_cancel(work);
    } else if (!decide(work, pending, verdict, reason && *reason ? reason : NULL, &error)) {
        work_cancel(work);
        rest_fail(call, error);
    } else if (rest_commit(call, work)) {
        answer_empty(call, 204);
    }
}

const RestRoute rest_requests[] = {
    {"GET", "lists/{list}/requests", get_all, NULL},
    {"GET", "lists/{list}/requests/count", get_count, NULL},
    {"GET", "lists/{list}/requests/{token}", get_one, NULL},
    {"POST", "lists/{list}/requests/{token}", post, NULL},
    {NULL, NULL, NULL, NULL},
};
