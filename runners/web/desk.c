/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The pages of the desk share these: the lists that somebody runs, and the first page of each. */
#include "runners/web/desk.h"

#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "mail/visible.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"
#include "store/people/pending.h"
#include "store/posts/held.h"
#include "store/posts/scheduled.h"

#define LINE 300 /* bytes of a line that a page shows */

void desk_clear(Desk *desk)
{
    g_clear_pointer(&desk->standing, standing_free);
    g_clear_pointer(&desk->list, list_free);
}

/* ---- opening ---- */

bool desk_open(Desk *desk, WebCall *call, unsigned right)
{
    GError *error = NULL;
    desk->call = call;
    if (!web_person(call, &desk->person))
        return false;
    if (!desk->person) {
        web_see_other(call, "/sign-in");
        return false;
    }
    if (!(desk->standing = standing_new(desk_store(desk), desk->person, &error))) {
        web_fail(call, error);
        return false;
    }
    if (right != 0) { /* a list of others looks like none */
        desk->list = list_by_id(desk_store(desk), call->args[0], &error);
        desk->by = desk->list ? standing_of(desk->standing, desk->list) : BY_STRANGER;
        if (desk->by == BY_STRANGER)
            web_missing(call, error);
        else if (!authority_covers(right, desk->by))
            web_notice(call, 403, "for_owners", NULL);
    } else if (!standing_any(desk->standing)) {
        web_notice(call, 403, "runs_no_list", NULL);
    }
    if (!call->answered && strcmp(http_verb(call->http), "POST") == 0 && !web_my_mark_good(call, desk->person))
        web_notice(call, 400, "form_too_old", NULL);
    return !call->answered;
}

bool desk_open_site(Desk *desk, WebCall *call)
{
    if (!desk_open(desk, call, 0))
        return false;
    if (!desk->standing->site)
        web_notice(call, 403, "for_operators", NULL);
    return desk->standing->site;
}

Work *desk_begin(const Desk *desk)
{
    g_autoptr(Work) work = web_begin(desk->call);
    if (!work)
        return NULL;
    work_become(work, desk->by == BY_MODERATOR ? ACTOR_MODERATOR : ACTOR_OWNER, desk->person->address->text);
    return g_steal_pointer(&work);
}

/* ---- answering ---- */

void desk_set_line(json_t *view, const char *name, const char *text)
{
    g_autofree char *line = visible_line(text ? text : "", LINE);
    json_object_set_new(view, name, json_string(line));
}

static json_t *list_view(const Desk *desk, const List *list, Authority by)
{
    g_autofree char *path = g_uri_escape_string(list->list_id, NULL, false);
    g_autofree char *archive = list_archive_name(list->list_id, list->archive);
    g_autofree char *archive_path = g_uri_escape_string(archive, "~", false);
    json_t *view = json_pack("{ss sb sb}", "path", path, "is_owner", authority_covers(MAY_LIST, by), "is_moderator",
                             by == BY_MODERATOR);
    desk_set_line(view, "name", *list->settings->display_name ? list->settings->display_name : list->list_name);
    desk_set_line(view, "address", list->posting_address);
    if (desk->call->web->archive && list->settings->archive_policy != ARCHIVE_NEVER)
        json_object_set_new(view, "archive_path", json_string(archive_path));
    return view;
}

void desk_complete(const Desk *desk, json_t *view)
{
    g_autofree char *mark = web_my_mark(desk->call, desk->person);
    json_object_set_new(view, "mark", json_string(mark));
    json_object_set_new(view, "is_site", json_boolean(desk->standing->site));
    json_object_set_new(view, "me", json_string(desk->person->address->text));
    if (desk->list) {
        json_t *list = list_view(desk, desk->list, desk->by);
        if (!json_object_get(view, "title"))
            json_object_set(view, "title", json_object_get(list, "name"));
        json_object_set_new(view, "list", list);
    }
}

void desk_page(const Desk *desk, int status, const char *name, json_t *view)
{
    desk_complete(desk, view);
    web_page(desk->call, status, name, view);
}

void desk_see(const Desk *desk, const char *path)
{
    g_autofree char *id = desk->list ? g_uri_escape_string(desk->list->list_id, NULL, false) : NULL;
    g_autofree char *place = id ? g_strconcat("/desk/list/", id, path, NULL) : g_strconcat("/desk", path, NULL);
    web_see_other(desk->call, place);
}

void desk_refuse(Desk *desk, GError *error, DeskShow *show, json_t *view)
{
    if (g_error_matches(error, FAIL, FAIL_NEVER) || g_error_matches(error, FAIL, FAIL_EXISTS) ||
        g_error_matches(error, FAIL, FAIL_MISSING)) {
        desk_set_line(view, "fault", error->message);
        g_error_free(error);
        show(desk, 400, view);
        return;
    }
    json_decref(view);
    web_fail(desk->call, error);
}

/* ---- lists ---- */

static int by_list_id(const void *one, const void *other)
{
    return strcmp((*(const List *const *)one)->list_id, (*(const List *const *)other)->list_id);
}

/* Add up to DESK_PAGE + 1 lists of a domain (NULL: of all), but those that were added before. */
static bool add_page(GPtrArray *lists, Store *store, const char *domain, const char *after, GError **error)
{
    const ListCriteria criteria = {.domain = domain};
    g_autoptr(GPtrArray) page = list_page(store, &criteria, after, 0, DESK_PAGE + 1, error);
    for (guint i = 0; page && i < page->len; i++)
        g_ptr_array_add(lists, g_steal_pointer(&page->pdata[i]));
    return page != NULL;
}

/* The lists that the person runs, by List-Id, DESK_PAGE + 1 or a few more; of List. */
static GPtrArray *own_lists(const Desk *desk, const char *after, GError **error)
{
    const Standing *standing = desk->standing;
    GHashTable *const sets[] = {standing->owned, standing->moderated};
    g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func((GDestroyNotify)list_free);
    GHashTableIter at;
    void *key;
    if (standing->site)
        return add_page(lists, desk_store(desk), NULL, after, error) ? g_steal_pointer(&lists) : NULL;
    g_hash_table_iter_init(&at, standing->domains);
    while (g_hash_table_iter_next(&at, &key, NULL))
        if (!add_page(lists, desk_store(desk), key, after, error))
            return NULL;
    g_autoptr(GPtrArray) ids = g_ptr_array_new(); /* of the lists that are the person's by a role */
    for (unsigned i = 0; i < G_N_ELEMENTS(sets); i++) {
        g_hash_table_iter_init(&at, sets[i]);
        while (g_hash_table_iter_next(&at, &key, NULL))
            if ((!after || strcmp(key, after) > 0) && (i == 0 || !g_hash_table_contains(standing->owned, key)))
                g_ptr_array_add(ids, key);
    }
    g_ptr_array_sort(ids, bytes_compare_texts);
    for (guint i = 0; i < MIN(ids->len, DESK_PAGE + 1); i++) {
        List *list = list_by_id(desk_store(desk), ids->pdata[i], error);
        if (!list)
            return NULL;
        if (standing_of(standing, list) == BY_DOMAIN)
            list_free(list); /* it is there by its domain */
        else
            g_ptr_array_add(lists, list);
    }
    g_ptr_array_sort(lists, by_list_id);
    return g_steal_pointer(&lists);
}

static void get_lists(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    g_autofree char *after = web_query(call, "after");
    if (!desk_open(&desk, call, 0))
        return;
    g_autoptr(GPtrArray) lists = own_lists(&desk, after, &error);
    if (!lists) {
        web_fail(call, error);
        return;
    }
    json_t *view = json_object(), *rows = json_array();
    for (guint i = 0; i < MIN(lists->len, DESK_PAGE); i++) {
        const List *list = lists->pdata[i];
        json_array_append_new(rows, list_view(&desk, list, standing_of(desk.standing, list)));
    }
    if (lists->len > DESK_PAGE)
        json_object_set(view, "next", json_object_get(json_array_get(rows, DESK_PAGE - 1), "path"));
    json_object_set_new(view, "lists", rows);
    desk_page(&desk, 200, "desk_lists", view);
}

static void get_list(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    int64_t held, scheduled, members;
    if (!desk_open(&desk, call, MAY_MODERATOR))
        return;
    Store *store = desk_store(&desk);
    const char *id = desk.list->list_id;
    if (held_total(store, id, &held, &error) && scheduled_count(store, id, &scheduled, &error) &&
        member_count(store, id, ROLE_MEMBER, &members, &error))
        desk_page(&desk, 200, "desk_list",
                  json_pack("{sI sI sI sI}", "held", (json_int_t)held, "scheduled", (json_int_t)scheduled, "members",
                            (json_int_t)members, "posts", (json_int_t)(desk.list->post_id - 1)));
    else
        web_fail(call, error);
}

const WebRoute web_desk[] = {
    {"GET", "/desk/lists", get_lists},
    {"GET", "/desk/list/{}", get_list},
    {.verb = NULL},
};
