/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The link of List-Unsubscribe. A mail program leaves with one POST (RFC 8058), which needs neither cookie nor page; a
 * person who follows the link sees a page with one button.
 */
#include "lists/people/leave.h"

#include <string.h>

#include "runners/web/web.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"

static void get_leave(WebCall *call)
{
    GError *error = NULL;
    g_auto(LeaveView) seen = {0};
    g_autoptr(Work) work = web_look(call);
    if (!work)
        return;
    if (!leave_peek(work, call->args[0], &seen, &error)) {
        web_fail(call, error);
        return;
    }
    g_autoptr(List) list = seen.list_id ? list_by_id(work_store(work), seen.list_id, &error) : NULL;
    if (seen.list_id && !list)
        web_missing(call, error);
    else if (!list)
        web_notice(call, 404, "bad_token", json_pack("{sb}", "unknown", true));
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

static void answer(WebCall *call, const Subscription *made)
{
    json_t *view = web_made_view(made);
    switch (made->result) {
    case SUBSCRIPTION_BAD_TOKEN:
        json_object_set_new(view, "unknown", json_true());
        web_notice(call, 404, "bad_token", view);
        break;
    case SUBSCRIPTION_ASKED_MODERATOR:
    case SUBSCRIPTION_MODERATOR_WAITS:
        web_notice_of(call, 202, "leave_waits", view, made->list_id);
        break;
    default: /* left now, or before */
        web_notice_of(call, 200, "left", view, made->list_id);
    }
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
    if (!look)
        return;
    if (!leave_peek(look, call->args[0], &seen, &error)) {
        web_fail(call, error);
        return;
    }
    if (!seen.list_id) {
        web_notice(call, 404, "bad_token", json_pack("{sb}", "unknown", true));
        return;
    }
    g_autoptr(Work) work = web_begin_people(call, seen.list_id);
    if (!work)
        return;
    if (!leave_token(work, call->args[0], one_click ? LEAVE_BY_ONE_CLICK : LEAVE_BY_PAGE, &made, &error))
        web_fail(call, error);
    else if (web_commit(call, work))
        answer(call, &made);
}

const WebRoute web_leave[] = {
    {"GET", WEB_ONE_CLICK, get_leave},
    {"POST", WEB_ONE_CLICK, post_leave},
    {.verb = NULL},
};
