/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /lists/{list}/header-matches: header fields that decide about a post, in their order. */
#include <string.h>

#include "base/fail.h"
#include "base/pattern.h"
#include "lists/header_rows.h"
#include "runners/rest/resources.h"

static json_t *match_json(const Call *call, const List *list, const HeaderMatch *match)
{
    json_t *object = json_pack("{so so sI so}", "header", json_words(match->header), "pattern",
                               json_words(match->pattern), "position", (json_int_t)match->position, "self_link",
                               json_link(call, "lists/%s/header-matches/%" G_GINT64_FORMAT, list->list_id,
                                         match->position));
    if (match->target)
        json_object_set_new(object, "action", json_words(match->target));
    if (match->tag)
        json_object_set_new(object, "tag", json_words(match->tag));
    return object;
}

static bool action_allowed(Call *call)
{
    int action;
    return form_is_empty(call, "action") || form_choice(call, "action", FORM_ACTIONS, &action);
}

/* An empty text is none. */
static char *text_or_null(const Call *call, const char *name)
{
    return form_is_empty(call, name) ? NULL : g_strdup(form_text(call, name));
}

/* Does the row have what the parameters ask for? */
static bool fits(const Call *call, const HeaderMatch *match)
{
    const char *header = form_text(call, "header"), *action = form_text(call, "action"), *tag = form_text(call, "tag");
    return (!header || !*header || g_ascii_strcasecmp(header, match->header) == 0) &&
           (!action || !*action || (match->target && g_ascii_strcasecmp(action, match->target) == 0)) &&
           (!tag || !*tag || g_strcmp0(tag, match->tag) == 0);
}

/* Those rows of the list that the parameters ask for; NULL: it was answered. */
static json_t *gather(Call *call, const List *list, Paging *paging, int64_t *total)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) all = header_match_all(call->rest->store, list->list_id, &error);
    if (!all) {
        rest_fail(call, error);
        return NULL;
    }
    json_t *entries = json_array();
    *total = 0;
    for (guint i = 0; i < all->len; i++)
        if (fits(call, all->pdata[i]) && (*total)++ >= paging->start && json_array_size(entries) < paging->count)
            json_array_append_new(entries, match_json(call, list, all->pdata[i]));
    return entries;
}

static void get_all(Call *call)
{
    Paging paging;
    int64_t total;
    bool fine = form_expect(call, "", "count page") && form_paging(call, &paging);
    g_autoptr(List) list = fine ? rest_list(call, 0) : NULL;
    json_t *entries = list ? gather(call, list, &paging, &total) : NULL;
    if (entries)
        answer_collection(call, entries, total, paging.start);
}

static void find(Call *call)
{
    Paging paging;
    int64_t total;
    if (!form_expect(call, "", "header action tag count page") || !action_allowed(call) || !form_paging(call, &paging))
        return;
    g_autoptr(List) list = rest_list(call, 0);
    json_t *entries = list ? gather(call, list, &paging, &total) : NULL;
    if (entries && total > 0) {
        answer_collection(call, entries, total, paging.start);
    } else if (entries) {
        json_decref(entries);
        answer_refusal(call, 404, "Could not find any HeaderMatch for provided search options");
    }
}

/* The answer to a change that was refused. */
static void refuse(Call *call, const HeaderMatch *match, GError *error)
{
    if (g_error_matches(error, FAIL, FAIL_EXISTS)) {
        answer_refusal(call, 400, "This header match already exists");
        g_error_free(error);
    } else if (g_error_matches(error, FAIL, FAIL_NEVER) && pattern_valid(match->pattern, NULL)) {
        form_refuse(call, "header", "%s", error->message);
        g_error_free(error);
    } else if (g_error_matches(error, FAIL, FAIL_NEVER)) {
        answer_refusal(call, 400, "Invalid Parameter \"pattern\": Expected a valid regexp, got %s. (%s)",
                       form_text(call, "pattern") ? form_text(call, "pattern") : "none", error->message);
        g_error_free(error);
    } else {
        rest_fail(call, error);
    }
}

static void post(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list =
        form_expect(call, "header pattern", "action tag") && action_allowed(call) ? rest_list(call, 0) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    if (!work)
        return;
    g_autoptr(HeaderMatch) match = g_new0(HeaderMatch, 1);
    match->list_id = g_strdup(list->list_id);
    match->position = -1;
    match->header = g_ascii_strdown(form_text(call, "header"), -1);
    match->pattern = g_strdup(form_text(call, "pattern"));
    match->target = text_or_null(call, "action");
    match->tag = text_or_null(call, "tag");
    if (!header_rows_add(work, match, &error))
        refuse(call, match, error);
    else if (rest_commit(call, work))
        answer_created(call, "lists/%s/header-matches/%" G_GINT64_FORMAT, list->list_id, match->position);
}

static void delete_all(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list = form_expect(call, "", "") ? rest_list(call, 0) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    if (!work)
        return;
    rest_finish(call, work, header_rows_clear(work, list->list_id, NULL, NULL, &error), &error);
}

/* ---- one ---- */

/* The row of the path; NULL: 404 was answered. */
static HeaderMatch *find_one(Call *call, const List *list)
{
    int64_t position;
    GError *error = NULL;
    HeaderMatch *match = g_ascii_string_to_signed(call->args[1], 10, 0, G_MAXINT, &position, NULL)
                             ? header_match_find(call->rest->store, list->list_id, position, &error)
                             : NULL;
    if (match)
        return match;
    if (error && !g_error_matches(error, FAIL, FAIL_MISSING)) {
        rest_fail(call, error);
        return NULL;
    }
    g_clear_error(&error);
    answer_refusal(call, 404, "No header match at this position: %s", call->args[1]);
    return NULL;
}

static void get_one(Call *call)
{
    g_autoptr(List) list = rest_list(call, 0);
    g_autoptr(HeaderMatch) match = list ? find_one(call, list) : NULL;
    if (match)
        answer_json(call, 200, match_json(call, list, match));
}

/* Takes text. */
static void replace_text(char **kept, char *text, bool sent)
{
    g_free(sent ? *kept : text);
    *kept = sent ? text : *kept;
}

/* False: it was answered. */
static bool position_allowed(Call *call, const List *list, int64_t *position)
{
    GError *error = NULL;
    if (!form_integer(call, "position", position))
        return false;
    g_autoptr(GPtrArray) all = header_match_all(call->rest->store, list->list_id, &error);
    if (!all)
        rest_fail(call, error);
    else if (*position >= all->len)
        answer_refusal(call, 400, "There are %u header matches for this list, the new position cannot be %u or higher",
                       all->len, all->len);
    else
        return true;
    return false;
}

static void change(Call *call)
{
    GError *error = NULL;
    int64_t position = -1;
    g_autoptr(List) list = rest_list(call, 0);
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    g_autoptr(HeaderMatch) match = work ? find_one(call, list) : NULL;
    if (!match || !position_allowed(call, list, &position))
        return;
    int64_t from = match->position;
    replace_text(&match->header, g_strdup(form_text(call, "header")), form_has(call, "header"));
    replace_text(&match->pattern, g_strdup(form_text(call, "pattern")), form_has(call, "pattern"));
    replace_text(&match->target, text_or_null(call, "action"), form_has(call, "action"));
    replace_text(&match->tag, text_or_null(call, "tag"), form_has(call, "tag"));
    match->position = position;
    if (header_rows_change(work, from, match, &error))
        rest_finish(call, work, true, &error);
    else
        refuse(call, match, error);
}

static void patch(Call *call)
{
    if (form_expect(call, "", "header pattern action tag position") && action_allowed(call))
        change(call);
}

static void put(Call *call)
{
    if (form_expect(call, "header pattern", "action tag position") && action_allowed(call))
        change(call);
}

static void delete_one(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list = form_expect(call, "", "") ? rest_list(call, 0) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    g_autoptr(HeaderMatch) match = work ? find_one(call, list) : NULL;
    if (!match)
        return;
    rest_finish(call, work, header_rows_remove(work, list->list_id, match->position, &error), &error);
}

static const RestField fields[] = {
    {"header", MAY_LIST, MAY_LIST},
    {"pattern", MAY_LIST, MAY_LIST},
    {"action", MAY_LIST, MAY_LIST},
    {"tag", MAY_LIST, MAY_LIST},
    {"position", MAY_LIST, MAY_LIST},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {0},
};

const RestRoute rest_header_matches[] = {
    {"GET", "lists/{list}/header-matches", OF_LIST, MAY_LIST, fields, get_all, NULL},
    {"POST", "lists/{list}/header-matches", OF_LIST, MAY_LIST, fields, post, NULL},
    {"DELETE", "lists/{list}/header-matches", OF_LIST, MAY_LIST, fields, delete_all, NULL},
    {"GET", "lists/{list}/header-matches/find", OF_LIST, MAY_LIST, fields, find, NULL},
    {"POST", "lists/{list}/header-matches/find", OF_LIST, MAY_LIST, fields, find, NULL},
    {"GET", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, fields, get_one, NULL},
    {"PATCH", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, fields, patch, NULL},
    {"PUT", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, fields, put, NULL},
    {"DELETE", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, fields, delete_one, NULL},
    {0},
};
