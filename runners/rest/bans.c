/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /bans and /lists/{list}/bans: who may neither join nor post. */
#include <string.h>

#include "base/fail.h"
#include "lists/people/ban.h"
#include "runners/rest/resources.h"
#include "store/people/ban.h"

/* Of which list the path speaks. */
typedef struct BanScope {
    List *list;        /* NULL: of all */
    const char *email; /* the segment behind; NULL: none */
    char *base;        /* "bans", "lists/ant.example.com/bans" */
} BanScope;

static void scope_clear(BanScope *scope)
{
    list_free(scope->list);
    g_free(scope->base);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BanScope, scope_clear)

static bool read_scope(Call *call, BanScope *scope)
{
    bool of_list = call->route->of == OF_LIST;
    *scope = (BanScope){.list = of_list ? rest_list(call) : NULL, .email = call->args[of_list ? 1 : 0]};
    if (of_list && !scope->list)
        return false;
    scope->base = of_list ? g_strdup_printf("lists/%s/bans", scope->list->list_id) : g_strdup("bans");
    return true;
}

static const char *list_id_of(const BanScope *scope)
{
    return scope->list ? scope->list->list_id : NULL;
}

/* As Mailman writes it: of a pattern all is encoded, in an address the @ stays. g_free() */
static char *ban_segment(const char *email)
{
    return g_uri_escape_string(email, *email == '^' ? NULL : "@", false);
}

static json_t *ban_json(const Call *call, const BanScope *scope, const char *email)
{
    g_autofree char *name = ban_segment(email);
    json_t *object =
        json_pack("{so so}", "email", json_words(email), "self_link", json_link(call, "%s/%s", scope->base, name));
    if (scope->list)
        json_object_set_new(object, "list_id", json_words(scope->list->list_id));
    return object;
}

typedef struct BanWalk {
    const Call *call;
    const BanScope *scope;
    Page page;
} BanWalk;

static bool add(const Ban *ban, void *data)
{
    BanWalk *walk = data;
    if (page_takes(&walk->page))
        page_add(&walk->page, ban_json(walk->call, walk->scope, ban->email));
    return true;
}

static void get_all(Call *call)
{
    g_auto(BanScope) scope = {0};
    GError *error = NULL;
    BanWalk walk = {.call = call, .scope = &scope};
    Store *store = page_begin(call, "", "", &walk.page) && read_scope(call, &scope) ? rest_store(call) : NULL;
    if (store)
        ban_each(store, list_id_of(&scope), add, &walk, &error);
    answer_page(call, NULL, &walk.page, &error);
    page_clear(&walk.page);
}

static void post(Call *call)
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
static void get_one(Call *call)
{
    g_auto(BanScope) scope = {0};
    GError *error = NULL;
    bool is = false;
    g_autofree char *by = NULL;
    Store *store = read_scope(call, &scope) ? rest_store(call) : NULL;
    if (!store)
        return;
    if (!ban_find(store, list_id_of(&scope), scope.email, &is, &error) ||
        (!is && strchr(scope.email, '@') && !ban_check(store, list_id_of(&scope), scope.email, NULL, &by, &error)))
        rest_fail(call, error);
    else if (is || by)
        answer_json(call, 200, ban_json(call, &scope, scope.email));
    else
        answer_refusal(call, 404, "Email is not banned: %s", scope.email);
}

static void delete(Call *call)
{
    g_auto(BanScope) scope = {0};
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") && read_scope(call, &scope) ? rest_begin(call) : NULL;
    bool done = work && ban_lift(work, scope.list, scope.email, &error);
    rest_refuse(call, &error, FAIL_MISSING, 404, "Email is not banned: %s", scope.email);
    rest_finish(call, work, done, &error);
}

static const RestField fields[] = {
    {"email", MAY_LIST, MAY_LIST},
    {"list_id", MAY_LIST, MAY_NOBODY},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {0},
};

const RestRoute rest_bans[] = {
    {"GET", "bans", OF_SITE, MAY_SITE, fields, get_all, NULL},
    {"POST", "bans", OF_SITE, MAY_SITE, fields, post, NULL},
    {"GET", "bans/{email}", OF_SITE, MAY_SITE, fields, get_one, NULL},
    {"DELETE", "bans/{email}", OF_SITE, MAY_SITE, fields, delete, NULL},
    {"GET", "lists/{list}/bans", OF_LIST, MAY_LIST, fields, get_all, NULL},
    {"POST", "lists/{list}/bans", OF_LIST, MAY_LIST, fields, post, NULL},
    {"GET", "lists/{list}/bans/{email}", OF_LIST, MAY_LIST, fields, get_one, NULL},
    {"DELETE", "lists/{list}/bans/{email}", OF_LIST, MAY_LIST, fields, delete, NULL},
    {0},
};
