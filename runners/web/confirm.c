/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The link of a letter that asks to confirm something: a page that says what, with one button. */
#include "lists/people/confirm.h"

#include "runners/web/web.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

static json_t *token_view(TokenFate fate)
{
    static const char *const names[] = {
        [TOKEN_UNKNOWN] = "unknown", [TOKEN_USED] = "used", [TOKEN_EXPIRED] = "expired", [TOKEN_REPLACED] = "replaced"};
    return json_pack("{sb}", names[fate], true);
}

static void refuse(WebCall *call, TokenFate fate)
{
    web_notice(call, 404, "bad_token", token_view(fate));
}

/* Describe the request that is to be confirmed, for the template confirm. */
static json_t *asked_view(const WebCall *call, const ConfirmView *seen, const List *list)
{
    static const char *const names[] = {[PENDING_JOIN] = "joins",
                                        [PENDING_LEAVE] = "leaves",
                                        [PENDING_CHANGE_ADDRESS] = "changes",
                                        [PENDING_SET] = "sets"};
    json_t *view = json_pack("{ss ss ss ss ss*}", "token", call->args[0], "title", list->settings->display_name, "name",
                             list->settings->display_name, "list", list->posting_address, "address", seen->address);
    bool is_request = seen->kind == CONFIRM_REQUEST;
    json_object_set_new(view,
                        seen->kind == CONFIRM_POST ? "posts"
                        : is_request               ? names[seen->request]
                                                   : "restores",
                        json_true());
    if (is_request && seen->request == PENDING_CHANGE_ADDRESS)
        json_object_set_new(view, "new_address", json_string(seen->detail));
    if (seen->kind == CONFIRM_POST)
        json_object_set_new(view, "subject", json_string(seen->detail ? seen->detail : ""));
    if (is_request && seen->request == PENDING_SET) {
        json_t *options = json_array();
        g_auto(GStrv) lines = g_strsplit(seen->detail ? seen->detail : "", "\n", -1);
        for (char **line = lines; *line; line++)
            if (**line)
                json_array_append_new(options, json_string(*line));
        json_object_set_new(view, "options", options);
    }
    return view;
}

/* Look what the token of the path would do. False: it is not good, and the call was answered. */
static bool look(WebCall *call, Work *work, ConfirmView *seen)
{
    GError *error = NULL;
    if (!confirm_peek(work, NULL, call->args[0], seen, &error)) {
        web_fail(call, error);
        return false;
    }
    if (seen->kind == CONFIRM_NOTHING)
        refuse(call, seen->fate);
    return seen->kind != CONFIRM_NOTHING;
}

static void get_confirm(WebCall *call)
{
    GError *error = NULL;
    g_auto(ConfirmView) seen = {0};
    g_autoptr(Work) work = web_look(call);
    if (!work || !look(call, work, &seen))
        return;
    g_autoptr(List) list = list_by_id(work_store(work), seen.list_id, &error);
    if (list)
        web_page(call, 200, "confirm", asked_view(call, &seen, list));
    else
        web_missing(call, error);
}

/* The section of the template notice for what was done. */
static const char *done_name(const Subscription *made)
{
    static const char *const done[] = {[PENDING_JOIN] = "joined",
                                       [PENDING_LEAVE] = "left",
                                       [PENDING_CHANGE_ADDRESS] = "changed",
                                       [PENDING_SET] = "set"};
    switch (made->result) {
    case SUBSCRIPTION_DONE:
        return done[made->kind];
    case SUBSCRIPTION_RESTORED:
        return "restored";
    case SUBSCRIPTION_POSTED:
        return "posted";
    case SUBSCRIPTION_ASKED_PERSON:
    case SUBSCRIPTION_PERSON_WAITS:
        return "half_changed";
    case SUBSCRIPTION_ASKED_MODERATOR:
    case SUBSCRIPTION_MODERATOR_WAITS:
        return "moderator_asked";
    case SUBSCRIPTION_BANNED:
        return "banned";
    case SUBSCRIPTION_TAKEN:
        return "taken";
    default:
        return "no_change";
    }
}

static void post_confirm(WebCall *call)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    g_auto(ConfirmView) seen = {0};
    g_autoptr(Work) first = web_look(call); /* a token that is not good takes no lock */
    g_autoptr(Work) work = first && look(call, first, &seen) ? web_begin(call) : NULL;
    if (!work)
        return;
    if (!confirm_token(work, NULL, call->args[0], CONSENT_SAID, &made, &error)) {
        web_fail(call, error);
        return;
    }
    if (!web_commit(call, work))
        return;
    if (made.result == SUBSCRIPTION_BAD_TOKEN)
        refuse(call, made.fate);
    else
        web_notice_of(call, 200, done_name(&made), web_made_view(&made), made.list_id);
}

const WebRoute web_confirm[] = {
    {"GET", "/confirm/{}", get_confirm},
    {"POST", "/confirm/{}", post_confirm},
    {.verb = NULL},
};
