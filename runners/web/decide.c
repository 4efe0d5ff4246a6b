/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * This page decides what a letter to a moderator is about, from the link in it (lists/posts/moderate.h). It has a
 * choice for each post and request that waits, one reason for all that are rejected, and one button.
 */
#include <string.h>

#include "lists/posts/moderate.h"
#include "runners/web/waiting.h"
#include "runners/web/web.h"
#include "store/lists/list.h"
#include "store/people/pending.h"
#include "store/posts/held.h"

#define POST_FIELD "post-"
#define REQUEST_FIELD "request-"

typedef struct Counts {
    int of[MODERATE_UNDONE + 1]; /* how many had this ModerateOutcome */
} Counts;

/* "?after=12&after_request=4", or nothing for the first page. */
static char *page_query(ModerateAfter after)
{
    if (after.post == 0 && after.request == 0)
        return g_strdup("");
    return g_strdup_printf("?after=%" G_GINT64_FORMAT "&after_request=%" G_GINT64_FORMAT, after.post, after.request);
}

/* Where the page that follows begins. */
static ModerateAfter next_after(const ModerateWaiting *waiting, ModerateAfter after)
{
    const GPtrArray *posts = waiting->posts, *requests = waiting->requests;
    if (posts->len > 0)
        after.post = ((const Held *)posts->pdata[posts->len - 1])->number;
    if (requests->len > 0)
        after.request = ((const Pending *)requests->pdata[requests->len - 1])->number;
    return after;
}

/* The page with what waits. view is taken. */
static void show(WebCall *call, Work *work, const Ticket *ticket, json_t *view)
{
    GError *error = NULL;
    g_auto(ModerateWaiting) waiting = {0};
    const ModerateAfter after = waiting_after(call);
    g_autoptr(List) list = list_by_id(work_store(work), ticket->list_id, &error);
    if (!list || !moderate_waiting(work, ticket, after, &waiting, &error)) {
        json_decref(view);
        web_fail(call, error);
        return;
    }
    json_t *posts = json_array(), *requests = json_array();
    for (unsigned i = 0; i < waiting.posts->len; i++)
        json_array_append_new(posts, waiting_post(call, work, list, waiting.posts->pdata[i]));
    for (unsigned i = 0; i < waiting.requests->len; i++)
        json_array_append_new(requests, waiting_request(waiting.requests->pdata[i]));
    json_object_set_new(view, "list", json_string(list->posting_address));
    json_object_set_new(view, "title", json_string(list->posting_address));
    json_object_set_new(view, "moderator", json_string(ticket->moderator));
    json_object_set_new(view, "token", json_string(call->args[0]));
    g_autofree char *page = page_query(after), *next = page_query(next_after(&waiting, after));
    json_object_set_new(view, "page", json_string(page));
    json_object_set_new(view, "next", waiting.more ? json_string(next) : json_null());
    json_object_set_new(view, "reason_chars", json_integer(MODERATE_REASON_MAX / 4)); /* of up to 4 bytes each */
    json_object_set_new(view, "waits", json_boolean(waiting.posts->len + waiting.requests->len > 0));
    json_object_set_new(view, "posts", posts);
    json_object_set_new(view, "requests", requests);
    web_page(call, 200, "decide", view);
}

/* NULL: the call was answered. */
static Ticket *find_ticket(WebCall *call, Work *work)
{
    static const struct {
        int status;
        const char *notice;
    } refusals[] = {[MODERATE_UNKNOWN] = {404, "no_ticket"},
                    [MODERATE_NO_MODERATOR] = {403, "no_moderator"}};
    GError *error = NULL;
    ModerateAccess access;
    Ticket *ticket = NULL;
    if (!moderate_ticket(work, call->args[0], &ticket, &access, &error))
        web_fail(call, error);
    else if (access != MODERATE_MAY)
        web_notice(call, refusals[access].status, refusals[access].notice, NULL);
    return ticket;
}

static void get_decide(WebCall *call)
{
    g_autoptr(Work) work = web_look(call);
    g_autoptr(Ticket) ticket = work ? find_ticket(call, work) : NULL;
    if (ticket)
        show(call, work, ticket, json_object());
}

/* The post that the path names; NULL: the call was answered. */
static Held *find_post(WebCall *call)
{
    GError *error = NULL;
    int64_t number;
    Held *held = NULL;
    g_autoptr(Work) work = web_look(call);
    g_autoptr(Ticket) ticket = work ? find_ticket(call, work) : NULL;
    if (!ticket)
        return NULL;
    bool good = !g_ascii_string_to_signed(call->args[1], 10, 1, G_MAXINT64, &number, NULL) ||
                moderate_post(work, ticket, number, &held, &error);
    if (!held)
        good ? web_missing(call, NULL) : web_fail(call, error);
    return held;
}

/* A post as it is read, with what it brings along. */
static void get_post(WebCall *call)
{
    g_autoptr(Held) held = find_post(call);
    if (!held)
        return;
    g_autofree char *back = g_strdup_printf("%s/decide/%s", call->web->base, call->args[0]);
    g_autofree char *files = g_strdup_printf("%s/post/%s/file/", back, call->args[1]);
    json_t *view = json_pack("{ss}", "back", back);
    waiting_set_mail(call, view, held->message, files);
    web_page(call, 200, "post", view);
}

static void get_file(WebCall *call)
{
    g_autoptr(Held) held = find_post(call);
    if (held)
        waiting_file(call, held->message, call->args[2]);
}

/* Do what one field of the form says: "post-12=accept". */
static bool decide_field(Work *work, const Ticket *ticket, const char *name, ModerateOne *one, Counts *counts,
                         GError **error)
{
    ModerateOutcome outcome;
    one->is_request = g_str_has_prefix(name, REQUEST_FIELD);
    if (!one->is_request && !g_str_has_prefix(name, POST_FIELD))
        return true;
    if (!*one->word || strcmp(one->word, "defer") == 0)
        return true;
    const char *number = strchr(name, '-') + 1;
    if (!g_ascii_string_to_signed(number, 10, 1, G_MAXINT64, &one->number, NULL))
        return true;
    if (!moderate_one(work, ticket, one, &outcome, error))
        return false;
    counts->of[outcome]++;
    return true;
}

static void post_decide(WebCall *call)
{
    GError *error = NULL;
    g_autoptr(Work) look = web_look(call); /* an unknown token takes no lock */
    g_autoptr(Ticket) ticket = look ? find_ticket(call, look) : NULL;
    g_autoptr(Work) work = ticket ? web_begin(call) : NULL;
    if (!work)
        return;
    const char *reason = web_field(call, "reason");
    Counts counts = {0};
    GHashTableIter at;
    void *name, *value;
    g_hash_table_iter_init(&at, call->form);
    while (g_hash_table_iter_next(&at, &name, &value)) {
        ModerateOne one = {.word = value, .reason = reason};
        if (!decide_field(work, ticket, name, &one, &counts, &error)) {
            web_fail(call, error);
            return;
        }
    }
    if (!web_commit(call, work))
        return;
    g_autoptr(Work) after = web_look(call); /* the database may have been opened anew since the first look */
    if (after)
        show(call, after, ticket,
             json_pack("{sb sb sb si}", "decided", counts.of[MODERATE_DONE] > 0, "gone", counts.of[MODERATE_GONE] > 0,
                       "undone", counts.of[MODERATE_UNDONE] > 0, "count", counts.of[MODERATE_DONE]));
}

const WebRoute web_decide[] = {
    {"GET", "/decide/{}", get_decide},
    {"POST", "/decide/{}", post_decide},
    {"GET", "/decide/{}/post/{}", get_post},
    {"GET", "/decide/{}/post/{}/file/{}/{}", get_file},
    {.verb = NULL},
};
