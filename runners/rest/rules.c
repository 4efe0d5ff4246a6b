/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Rules about senders and posts: /bans and /lists/{list}/bans, who may neither join nor post; and
 * /lists/{list}/header-matches, header fields that decide about a post, in their order. */
#include <string.h>

#include "base/fail.h"
#include "base/pattern.h"
#include "lists/people/ban.h"
#include "lists/posts/header_rows.h"
#include "runners/rest/resources.h"
#include "store/people/ban.h"

/* ---- bans ---- */

/* The bans that the path speaks of. */
typedef struct BanScope {
    const Call *call;
    List *list;          /* NULL: they are the site's */
    const char *list_id; /* of the list, or NULL */
    const char *email;   /* the segment behind; NULL: none */
    char *base;          /* "bans", "lists/ant.example.com/bans" */
    Page page;           /* of a collection */
} BanScope;

static void scope_clear(BanScope *scope)
{
    list_free(scope->list);
    g_free(scope->base);
    page_clear(&scope->page);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BanScope, scope_clear)

/* False: 404 or 503 was answered. */
static bool read_scope(Call *call, BanScope *scope)
{
    bool of_list = call->route->of == OF_LIST;
    scope->call = call;
    scope->list = of_list ? rest_list(call) : NULL;
    if (of_list && !scope->list)
        return false;
    scope->list_id = of_list ? scope->list->list_id : NULL;
    scope->email = call->args[of_list ? 1 : 0];
    scope->base = of_list ? g_strdup_printf("lists/%s/bans", scope->list_id) : g_strdup("bans");
    return true;
}

/* As Mailman writes it: of a pattern all is encoded, in an address the @ stays. g_free() */
static char *ban_segment(const char *email)
{
    return g_uri_escape_string(email, *email == '^' ? NULL : "@", false);
}

static json_t *ban_json(const BanScope *scope, const char *email)
{
    g_autofree char *name = ban_segment(email);
    json_t *object = json_pack("{so so}", "email", json_words(email), "self_link",
                               json_link(scope->call, "%s/%s", scope->base, name));
    if (scope->list)
        json_object_set_new(object, "list_id", json_words(scope->list_id));
    return object;
}

static bool add(const Ban *ban, void *data)
{
    BanScope *scope = data;
    if (page_takes(&scope->page))
        page_add(&scope->page, ban_json(scope, ban->email));
    return true;
}

static void get_bans(Call *call)
{
    g_auto(BanScope) scope = {0};
    GError *error = NULL;
    if (page_begin(call, "", "", &scope.page) && read_scope(call, &scope))
        ban_each(call->store, scope.list_id, add, &scope, &error);
    answer_page(call, NULL, &scope.page, &error);
}

static void post_ban(Call *call)
{
    g_auto(BanScope) scope = {0};
    GError *error = NULL;
    if (!form_expect(call, "email", "") || !read_scope(call, &scope))
        return;
    const char *email = form_text(call, "email");
    g_autofree char *name = ban_segment(email);
    g_autoptr(Work) work = rest_begin(call);
    if (work && ban_impose(work, scope.list, email, &error)) {
        if (rest_commit(call, work))
            answer_created(call, "%s/%s", scope.base, name);
        return;
    }
    rest_refuse(call, &error, FAIL_EXISTS, 400, "Address is already banned");
    rest_refuse(call, &error, FAIL_NEVER, 400,
                "Invalid Parameter \"email\": Expected a valid email address or regular expression, got %s.", email);
    rest_fail(call, error);
}

/* Answers for what is a ban itself, and for an address that is banned by a pattern or on all lists. */
static void get_ban(Call *call)
{
    g_auto(BanScope) scope = {0};
    GError *error = NULL;
    bool is = false;
    g_autofree char *by = NULL;
    if (!read_scope(call, &scope))
        return;
    g_autoptr(Mailbox) address = strchr(scope.email, '@') ? mailbox_new(scope.email) : NULL;
    if (!ban_find(call->store, scope.list_id, scope.email, &is, &error) ||
        (!is && address && !ban_check(call->store, scope.list_id, address, NULL, &by, &error)))
        rest_fail(call, error);
    else if (is || by)
        answer_json(call, 200, ban_json(&scope, scope.email));
    else
        answer_refusal(call, 404, "Email is not banned: %s", scope.email);
}

static void delete_ban(Call *call)
{
    g_auto(BanScope) scope = {0};
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") && read_scope(call, &scope) ? rest_begin(call) : NULL;
    bool done = work && ban_lift(work, scope.list, scope.email, &error);
    rest_refuse(call, &error, FAIL_MISSING, 404, "Email is not banned: %s", scope.email);
    rest_finish(call, work, done, &error);
}

static const RestField ban_fields[] = {
    {"email", MAY_LIST, MAY_LIST},
    {"list_id", MAY_LIST, MAY_NOBODY},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {0},
};

const RestRoute rest_bans[] = {
    {"GET", "bans", OF_SITE, MAY_SITE, ban_fields, get_bans, NULL},
    {"POST", "bans", OF_SITE, MAY_SITE, ban_fields, post_ban, NULL},
    {"GET", "bans/{email}", OF_SITE, MAY_SITE, ban_fields, get_ban, NULL},
    {"DELETE", "bans/{email}", OF_SITE, MAY_SITE, ban_fields, delete_ban, NULL},
    {"GET", "lists/{list}/bans", OF_LIST, MAY_LIST, ban_fields, get_bans, NULL},
    {"POST", "lists/{list}/bans", OF_LIST, MAY_LIST, ban_fields, post_ban, NULL},
    {"GET", "lists/{list}/bans/{email}", OF_LIST, MAY_LIST, ban_fields, get_ban, NULL},
    {"DELETE", "lists/{list}/bans/{email}", OF_LIST, MAY_LIST, ban_fields, delete_ban, NULL},
    {0},
};

/* ---- header matches ---- */

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

/* Answer with the rows of the list; below .../find with those that have what the parameters ask for. */
static void get_matches(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    bool finds = g_str_has_suffix(call->route->path, "/find");
    bool fine = page_begin(call, "", finds ? "header action tag" : "", &page) && action_allowed(call);
    const char *header = form_text(call, "header"), *action = form_text(call, "action"), *tag = form_text(call, "tag");
    g_autoptr(List) list = fine ? rest_list(call) : NULL;
    g_autoptr(GPtrArray) all = list ? header_match_all(call->store, list->list_id, &error) : NULL;
    for (guint i = 0; all && i < all->len; i++) {
        const HeaderMatch *match = all->pdata[i];
        bool fits = (!header || !*header || g_ascii_strcasecmp(header, match->header) == 0) &&
                    (!action || !*action || (match->target && g_ascii_strcasecmp(action, match->target) == 0)) &&
                    (!tag || !*tag || g_strcmp0(tag, match->tag) == 0);
        if (fits && page_takes(&page))
            page_add(&page, match_json(call, list, match));
    }
    if (finds && all && page.total == 0)
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

static void post_match(Call *call)
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

static void delete_matches(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list = form_expect(call, "", "") ? rest_list(call) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    rest_finish(call, work, work && header_rows_clear(work, list->list_id, NULL, NULL, &error), &error);
}

/* ---- one header match ---- */

/* The row of the path; NULL: 404 was answered. */
static HeaderMatch *find_match(Call *call, const List *list)
{
    int64_t position;
    GError *error = NULL;
    if (!g_ascii_string_to_signed(call->args[1], 10, 0, G_MAXINT, &position, NULL))
        position = -1; /* where none is */
    HeaderMatch *match = header_match_find(call->store, list->list_id, position, &error);
    rest_refuse(call, &error, FAIL_MISSING, 404, "No header match at this position: %s", call->args[1]);
    if (!match)
        rest_fail(call, error);
    return match;
}

static void get_match(Call *call)
{
    g_autoptr(List) list = rest_list(call);
    g_autoptr(HeaderMatch) match = list ? find_match(call, list) : NULL;
    if (match)
        answer_json(call, 200, match_json(call, list, match));
}

/* Takes text. */
static void replace_text(char **kept, char *text, bool sent)
{
    g_free(sent ? *kept : text);
    *kept = sent ? text : *kept;
}

static void change_match(Call *call)
{
    GError *error = NULL;
    int64_t position = -1;
    bool fine = call_puts(call) ? form_expect(call, "header pattern", "action tag position")
                                : form_expect(call, "", "header pattern action tag position");
    g_autoptr(List) list = fine && action_allowed(call) ? rest_list(call) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    g_autoptr(HeaderMatch) match = work ? find_match(call, list) : NULL;
    if (!match || !form_integer(call, "position", &position))
        return;
    g_autoptr(GPtrArray) all = header_match_all(call->store, list->list_id, &error);
    if (!all) {
        rest_fail(call, error);
        return;
    }
    if (position >= all->len) {
        answer_refusal(call, 400, "There are %u header matches for this list, the new position cannot be %u or higher",
                       all->len, all->len);
        return;
    }
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

static void delete_match(Call *call)
{
    GError *error = NULL;
    g_autoptr(List) list = form_expect(call, "", "") ? rest_list(call) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    g_autoptr(HeaderMatch) match = work ? find_match(call, list) : NULL;
    rest_finish(call, work, match && header_rows_remove(work, list->list_id, match->position, &error), &error);
}

static const RestField match_fields[] = {
    {"header", MAY_LIST, MAY_LIST},
    {"pattern", MAY_LIST, MAY_LIST},
    {"action", MAY_LIST, MAY_LIST},
    {"tag", MAY_LIST, MAY_LIST},
    {"position", MAY_LIST, MAY_LIST},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {0},
};

const RestRoute rest_header_matches[] = {
    {"GET", "lists/{list}/header-matches", OF_LIST, MAY_LIST, match_fields, get_matches, NULL},
    {"POST", "lists/{list}/header-matches", OF_LIST, MAY_LIST, match_fields, post_match, NULL},
    {"DELETE", "lists/{list}/header-matches", OF_LIST, MAY_LIST, match_fields, delete_matches, NULL},
    {"GET", "lists/{list}/header-matches/find", OF_LIST, MAY_LIST, match_fields, get_matches, NULL},
    {"POST", "lists/{list}/header-matches/find", OF_LIST, MAY_LIST, match_fields, get_matches, NULL},
    {"GET", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, match_fields, get_match, NULL},
    {"PATCH", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, match_fields, change_match, NULL},
    {"PUT", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, match_fields, change_match, NULL},
    {"DELETE", "lists/{list}/header-matches/{position}", OF_LIST, MAY_LIST, match_fields, delete_match, NULL},
    {0},
};
