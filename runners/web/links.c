/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Links of letters, each to a page with one button: one asks to confirm something, the other is that of
 * List-Unsubscribe. By that a mail program leaves with one POST (RFC 8058), which needs neither cookie nor page.
 */
#include <string.h>

#include "lists/people/confirm.h"
#include "lists/people/leave.h"
#include "runners/web/web.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

static void refuse(WebCall *call, TokenFate fate)
{
    static const char *const names[] = {
        [TOKEN_UNKNOWN] = "unknown", [TOKEN_USED] = "used", [TOKEN_EXPIRED] = "expired", [TOKEN_REPLACED] = "replaced"};
    web_notice(call, 404, "bad_token", json_pack("{sb}", names[fate], true));
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
    static const char *const names[] = {[PENDING_JOIN] = "joins",
                                        [PENDING_LEAVE] = "leaves",
                                        [PENDING_CHANGE_ADDRESS] = "changes",
                                        [PENDING_SET] = "sets"};
    GError *error = NULL;
    g_auto(ConfirmView) seen = {0};
    g_autoptr(Work) work = web_look(call);
    if (!look(call, work, &seen))
        return;
    g_autoptr(List) list = list_by_id(work_store(work), seen.list_id, &error);
    if (!list) {
        web_missing(call, error);
        return;
    }
    const char *detail = seen.detail ? seen.detail : "", *name = list->settings->display_name;
    json_t *view = json_pack("{ss ss ss ss ss*}", "token", call->args[0], "title", name, "name", name, "list",
                             list->posting_address, "address", seen.address);
    if (seen.kind == CONFIRM_POST) {
        json_object_set_new(view, "posts", json_true());
        json_object_set_new(view, "subject", json_string(detail));
    } else if (seen.kind == CONFIRM_REQUEST) {
        json_object_set_new(view, names[seen.request], json_true());
    } else {
        json_object_set_new(view, "restores", json_true());
    }
    if (seen.kind == CONFIRM_REQUEST && seen.request == PENDING_CHANGE_ADDRESS)
        json_object_set_new(view, "new_address", json_string(seen.detail));
    if (seen.kind == CONFIRM_REQUEST && seen.request == PENDING_SET) {
        json_t *options = json_array();
        g_auto(GStrv) lines = g_strsplit(detail, "\n", -1);
        for (char **line = lines; *line; line++)
            if (**line)
                json_array_append_new(options, json_string(*line));
        json_object_set_new(view, "options", options);
    }
    web_page(call, 200, "confirm", view);
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
    g_autoptr(Work) work = look(call, first, &seen) ? web_begin(call) : NULL;
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

/* ---- leaving ---- */

static void get_leave(WebCall *call)
{
    GError *error = NULL;
    g_auto(LeaveView) seen = {0};
    g_autoptr(Work) work = web_look(call);
    if (!leave_peek(work, call->args[0], &seen, &error)) {
        web_fail(call, error);
        return;
    }
    g_autoptr(List) list = seen.list_id ? list_by_id(work_store(work), seen.list_id, &error) : NULL;
    if (seen.list_id && !list)
        web_missing(call, error);
    else if (!list)
        refuse(call, TOKEN_UNKNOWN);
    else
        web_page(call, 200, "leave",
                 json_pack("{ss ss ss ss ss sb sb si}", "token", call->args[0], "title", list->settings->display_name,
                           "name", list->settings->display_name, "list", list->posting_address, "address", seen.address,
                           "is_member", seen.is_member, "moderated", seen.moderated, "undo_days", WEB_UNDO_DAYS));
}

/* The field of RFC 8058, 3.1, in a form of either encoding. */
static bool is_one_click(WebCall *call)
{
    size_t length;
    const char *type = http_header(call->http, "Content-Type");
    if (!type || g_ascii_strncasecmp(type, "multipart/form-data", strlen("multipart/form-data")) != 0)
        return strcmp(web_field(call, "List-Unsubscribe"), "One-Click") == 0;
    const char *body = http_body(call->http, &length);
    return memmem(body, length, "List-Unsubscribe", strlen("List-Unsubscribe")) &&
           memmem(body, length, "One-Click", strlen("One-Click"));
}

static void post_leave(WebCall *call)
{
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    bool one_click = is_one_click(call);
    if (!one_click && strcmp(web_field(call, "leave"), "yes") != 0) {
        get_leave(call);
        return;
    }
    g_auto(LeaveView) seen = {0};
    g_autoptr(Work) look = web_look(call); /* a forged link takes no lock */
    if (!leave_peek(look, call->args[0], &seen, &error)) {
        web_fail(call, error);
        return;
    }
    if (!seen.list_id) {
        refuse(call, TOKEN_UNKNOWN);
        return;
    }
    g_autoptr(Work) work = web_begin_people(call, seen.list_id);
    if (!work)
        return;
    if (!leave_token(work, call->args[0], one_click ? LEAVE_BY_ONE_CLICK : LEAVE_BY_PAGE, &made, &error)) {
        web_fail(call, error);
        return;
    }
    if (!web_commit(call, work))
        return;
    json_t *view = web_made_view(&made);
    if (made.result == SUBSCRIPTION_BAD_TOKEN) {
        json_object_set_new(view, "unknown", json_true());
        web_notice(call, 404, "bad_token", view);
    } else if (made.result == SUBSCRIPTION_ASKED_MODERATOR || made.result == SUBSCRIPTION_MODERATOR_WAITS) {
        web_notice_of(call, 202, "leave_waits", view, made.list_id);
    } else { /* left now, or before */
        web_notice_of(call, 200, "left", view, made.list_id);
    }
}

const WebRoute web_links[] = {
    {"GET", "/confirm/{}", get_confirm},
    {"POST", "/confirm/{}", post_confirm},
    {"GET", WEB_ONE_CLICK, get_leave},
    {"POST", WEB_ONE_CLICK, post_leave},
    {.verb = NULL},
};
