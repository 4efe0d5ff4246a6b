/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /lists/{list}/header-matches: header fields that decide about a post, in their order. */
#include <string.h>

#include "base/fail.h"
#include "base/pattern.h"
#include "lists/posts/header_rows.h"
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

/* Walk the rows of the list that the parameters ask for. */
static void walk(Call *call, const List *list, Page *page, GError **error)
{
    g_autoptr(GPtrArray) all = header_match_all(call->rest->store, list->list_id, error);
    for (guint i = 0; all && i < all->len; i++)
        if (fits(call, all->pdata[i]) && page_takes(page))
            page_add(page, match_json(call, list, all->pdata[i]));
}

static void get_all(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    g_autoptr(List) list = page_of_list(call, &page);
    if (list)
        walk(call, list, &page, &error);
    answer_page(call, NULL, &page, &error);
}

static void find(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    bool fine = page_begin(call, "", "header action tag", &page) && action_allowed(call);
    g_autoptr(List) list = fine ? rest_list(call) : NULL;
    if (list)
        walk(call, list, &page, &error);
    if (list && !error && page.total == 0)
        answer_refusal(call, 404, "Could not find any HeaderMatch for provided search options");
    answer_page(call, NULL, &page, &error);
}

/* The answer to a change that was refused. */
static void refuse(Call *call, const HeaderMatch *match, GError *error)
{
    rest_refuse(call, &error, FAIL_EXISTS, 400, "This header match already exists");
    if (error && pattern_valid(match->pattern, NULL))
        rest_refuse(call, &error, FAIL_NEVER, 400, "Invalid Parameter \"header\": %s.", error->message);
    else if (error)
        rest_refuse(call, &error, FAIL_NEVER, 400,
                    "Invalid Parameter \"pattern\": Expected a valid regexp, got %s. (%s)",
                    form_text(call, "pattern") ? form_text(call, "pattern") : "none", error->message);
    rest_fail(call, error);
}

static void post(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list = form_expect(call, "header pattern", "action tag") && action_allowed(call) ? rest_list(call)
                                                                                                     : NULL;
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
    g_autoptr(List) list = form_expect(call, "", "") ? rest_list(call) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    rest_finish(call, work, work && header_rows_clear(work, list->list_id, NULL, NULL, &error), &error);
}

/* ---- one ---- */

/* The row of the path; NULL: 404 was answered. */
static HeaderMatch *find_one(Call *call, const List *list)
{
    int64_t position;
    GError *error = NULL;
    if (!g_ascii_string_to_signed(call->args[1], 10, 0, G_MAXINT, &position, NULL))
        position = -1; /* where none is */
    HeaderMatch *match = header_match_find(call->rest->store, list->list_id, position, &error);
    rest_refuse(call, &error, FAIL_MISSING, 404, "No header match at this position: %s", call->args[1]);
    if (!match)
        rest_fail(call, error);
    return match;
}

static void get_one(Call *call)
{
    g_autoptr(List) list = rest_list(call);
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
    bool fine = call_puts(call) ? form_expect(call, "header pattern", "action tag position")
                                : form_expect(call, "", "header pattern action tag position");
    g_autoptr(List) list = fine && action_allowed(call) ? rest_list(call) : NULL;
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

static void delete_one(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list = form_expect(call, "", "") ? rest_list(call) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    g_autoptr(HeaderMatch) match = work ? find_one(call, list) : NULL;
    rest_finish(call, work, match && header_rows_remove(work, list->list_id, match->position, &error), &error);
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
    {"PATCH", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, fields, change, NULL},
    {"PUT", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, fields, change, NULL},
    {"DELETE", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, fields, delete_one, NULL},
    {0},
};
