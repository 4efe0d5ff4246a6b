/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Pages for everybody: which lists there are, and the page of one with the form to join it; the links of letters that
 * confirm something, and that of List-Unsubscribe; and files that are served as they are: the style sheet, the icon,
 * and what robots may read. */
#include <string.h>

#include "base/clock.h"
#include "lists/people/confirm.h"
#include "lists/people/join.h"
#include "lists/people/leave.h"
#include "mail/visible.h"
#include "runners/web/form_mark.h"
#include "runners/web/web.h"
#include "store/lists/list.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"
#include "store/people/account.h"

#define PAGE 100 /* lists on a page */
#define NAME_MAX_BYTES 200

/* Set an address to be shown, and as NAME_uri what a link to it has. */
static void set_address(json_t *view, const char *name, const char *address)
{
    g_autofree char *uri = g_uri_escape_string(address, "@", false), *key = g_strconcat(name, "_uri", NULL);
    json_object_set_new(view, name, json_string(address));
    json_object_set_new(view, key, json_string(uri));
}

/* path: its List-Id as a segment of a path, or a value of a query. */
static json_t *list_view(const Web *web, const List *list)
{
    g_autofree char *path = g_uri_escape_string(list->list_id, NULL, false);
    json_t *view = json_pack("{ss ss ss}", "path", path, "name",
                             *list->settings->display_name ? list->settings->display_name : list->list_name,
                             "description", list->settings->description);
    set_address(view, "address", list->posting_address);
    if (web->archive && list->settings->archive_policy != ARCHIVE_NEVER) {
        g_autofree char *name = list_archive_name(list->list_id, list->archive);
        g_autofree char *archive_path = g_uri_escape_string(name, "~", false);
        json_object_set_new(view, "archive_path", json_string(archive_path));
    }
    return view;
}

/* Advertised lists in order of their List-Id; ?after=LIST-ID for the next page. */
static void get_lists(WebCall *call)
{
    GError *error = NULL;
    static const ListCriteria shown = {.advertised = true};
    g_autofree char *after = web_query(call, "after");
    g_autoptr(GPtrArray) lists = list_page(call->store, &shown, after, 0, PAGE + 1, &error);
    if (!lists) {
        web_fail(call, error);
        return;
    }
    json_t *view = json_object(), *rows = json_array();
    for (unsigned i = 0; i < MIN(lists->len, PAGE); i++)
        json_array_append_new(rows, list_view(call->web, lists->pdata[i]));
    json_object_set_new(view, "lists", rows);
    if (lists->len > PAGE)
        json_object_set(view, "next", json_object_get(json_array_get(rows, PAGE - 1), "path"));
    web_page(call, 200, "lists", view);
}

/* The list of the path; NULL: the call was answered. */
static List *find_list(WebCall *call)
{
    GError *error = NULL;
    List *list = list_find(call->store, call->args[0], &error);
    if (!list)
        web_missing(call, error);
    return list;
}

/* The page of a list, above the form: what was wrong in it, and in it what was typed. view is taken. */
static void show_list(WebCall *call, int status, const List *list, json_t *view)
{
    g_autofree char *mark = form_mark_make(call->web->form_keys, list->list_id, g_get_real_time());
    g_autofree char *owner = list_address(list, "owner"), *join = list_address(list, "join");
    g_autofree char *leave = list_address(list, "leave");
    json_object_set_new(view, "list", list_view(call->web, list));
    json_object_set(view, "title", json_object_get(json_object_get(view, "list"), "name"));
    json_object_set_new(view, "info", json_string(list->settings->info));
    set_address(view, "owner", owner);
    set_address(view, "join", join);
    set_address(view, "leave", leave);
    json_object_set_new(view, "mark", json_string(mark));
    json_object_set_new(view, "typed", json_string(web_field(call, "address")));
    json_object_set_new(view, "typed_name", json_string(web_field(call, "name")));
    web_page(call, status, "list", view);
}

static void get_list(WebCall *call)
{
    g_autoptr(List) list = find_list(call);
    if (list)
        show_list(call, 200, list, json_object());
}

static void post_join(WebCall *call)
{
    GError *error = NULL;
    SubscriptionResult result;
    g_autoptr(List) list = find_list(call);
    if (!list)
        return;
    if (!form_mark_good(call->web->form_keys, list->list_id, web_field(call, "mark"), g_get_real_time())) {
        show_list(call, 400, list, json_pack("{sb}", "again", true));
        return;
    }
    g_autofree char *address = g_strstrip(g_strdup(web_field(call, "address")));
    g_autofree char *name = visible_line(web_field(call, "name"), NAME_MAX_BYTES);
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    const Joiner joiner = {.address = mailbox, .name = *name ? name : NULL};
    g_autoptr(Work) work = web_begin_people(call, list->list_id);
    if (!work)
        return;
    if (!join_form_take(work, list, &joiner, &result, &error))
        web_fail(call, error);
    else if (result == SUBSCRIPTION_BAD_ADDRESS || result == SUBSCRIPTION_OWN_ADDRESS)
        show_list(call, 400, list, json_pack("{sb}", "bad_address", true));
    else if (!web_commit(call, work))
        return;
    else if (result == SUBSCRIPTION_LIMITED)
        show_list(call, 429, list, json_pack("{sb}", "full", true));
    else
        web_notice(call, 200, "letter_sent", json_pack("{ss ss}", "address", address, "list", list->posting_address));
}

/* The folders of the pages of lists, which somebody finds by taking the end of an address away. */
static void get_folder(WebCall *call)
{
    web_moved(call, "/");
}

/* ---- links of letters ---- */

/* Each link leads to a page with one button: one asks to confirm something, the other is that of List-Unsubscribe. By
 * that a mail program leaves with one POST (RFC 8058), which needs neither cookie nor page. */

static void refuse_token(WebCall *call, TokenFate fate)
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
        refuse_token(call, seen->fate);
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

/* The view of a change that was made: "address", "told", and the days for which it can be undone. */
static json_t *made_view(const Subscription *made)
{
    return json_pack("{ss* sb si}", "address", made->address, "told", made->told, "undo_days", WEB_UNDO_DAYS);
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
        refuse_token(call, made.fate);
    else
        web_notice_of(call, 200, done_name(&made), made_view(&made), made.list_id);
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
        refuse_token(call, TOKEN_UNKNOWN);
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
        refuse_token(call, TOKEN_UNKNOWN);
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
    json_t *view = made_view(&made);
    if (made.result == SUBSCRIPTION_BAD_TOKEN) {
        json_object_set_new(view, "unknown", json_true());
        web_notice(call, 404, "bad_token", view);
    } else if (made.result == SUBSCRIPTION_ASKED_MODERATOR || made.result == SUBSCRIPTION_MODERATOR_WAITS) {
        web_notice_of(call, 202, "leave_waits", view, made.list_id);
    } else { /* left now, or before */
        web_notice_of(call, 200, "left", view, made.list_id);
    }
}

/* ---- files ---- */

static void answer_file(WebCall *call, const char *type, const char *tag, const char *content, size_t length)
{
    http_set_header(call->http, "Cache-Control", "public, max-age=3600");
    http_set_header(call->http, "X-Content-Type-Options", "nosniff");
    g_autoptr(GBytes) bytes = g_bytes_new(content, length);
    web_shared(call, type, tag, bytes);
}

static void get_file(WebCall *call)
{
    const ThemeFile *file = theme_file(call->web->theme, call->args[0]);
    if (!file) {
        web_missing(call, NULL);
        return;
    }
    size_t length;
    const char *content = g_bytes_get_data(file->content, &length);
    answer_file(call, file->type, file->tag, content, length);
}

static void get_robots(WebCall *call)
{
    static const char *const closed[] = {
        "/confirm/",        "/sign-in",         "/my", "/decide/", "/u/", "/search", "/archive/*/search",
        "/archive/*/*/raw", "/archive/*/*/mbox"};
    g_autoptr(GString) rules = g_string_new("User-agent: *\n");
    for (size_t i = 0; i < G_N_ELEMENTS(closed); i++)
        g_string_append_printf(rules, "Disallow: %s%s\n", call->web->base, closed[i]);
    answer_file(call, "text/plain; charset=utf-8", "\"3\"", rules->str, rules->len);
}

const WebRoute web_lists[] = {
    {"GET", "/", get_lists},
    {"GET", "/list/{}", get_list},
    {"POST", "/list/{}/join", post_join},
    {"GET", "/confirm/{}", get_confirm},
    {"POST", "/confirm/{}", post_confirm},
    {"GET", WEB_ONE_CLICK, get_leave},
    {"POST", WEB_ONE_CLICK, post_leave},
    {.verb = NULL},
};

const WebRoute web_files[] = {
    {"GET", "/list", get_folder},
    {"GET", "/archive", get_folder},
    {"GET", "/robots.txt", get_robots},
    {"GET", "/files/{}", get_file},
    {.verb = NULL},
};
