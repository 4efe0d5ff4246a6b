/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Pages for everybody: which lists there are, and the page of one with the form to join it; and files that are served
 * as they are: the style sheet, the icon, and what robots may read. */
#include <string.h>

#include "base/clock.h"
#include "lists/people/join.h"
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
    const Joiner joiner = {.address = address, .name = *name ? name : NULL};
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
    {.verb = NULL},
};

const WebRoute web_files[] = {
    {"GET", "/list", get_folder},
    {"GET", "/archive", get_folder},
    {"GET", "/robots.txt", get_robots},
    {"GET", "/files/{}", get_file},
    {.verb = NULL},
};
