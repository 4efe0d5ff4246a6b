/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /uris, /domains/{host}/uris, /lists/{list}/uris: where the texts of letters come from. */
#include <string.h>

#include "base/fail.h"
#include "lists/letters/template_name.h"
#include "lists/letters/template_set.h"
#include "runners/rest/resources.h"
#include "store/lists/domain.h"
#include "store/lists/template_text.h"

/* The owner of the templates that the path names. */
typedef struct TemplateScope {
    char *place; /* List-Id, mail domain, or "" for the site */
    char *base;  /* "uris", "domains/example.com/uris" */
    bool of_list;
    const char *name; /* of one template; NULL: none */
} TemplateScope;

static void scope_clear(TemplateScope *scope)
{
    g_free(scope->place);
    g_free(scope->base);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TemplateScope, scope_clear)

/* May a place of this kind have the template? A list is too late for the letter about its own making. */
static bool has_template(const TemplateScope *scope, const char *name)
{
    const TemplateName *row = template_name_find(name);
    return row && row->mailman && strcmp(row->mailman, name) == 0 &&
           !(scope->of_list && row->owner == TEMPLATE_OF_DOMAIN);
}

static bool read_scope(Call *call, TemplateScope *scope)
{
    GError *error = NULL;
    RestObject of = call->route->of;
    scope->of_list = of == OF_LIST;
    scope->name = call->args[of == OF_SITE ? 0 : 1];
    if (of == OF_LIST) {
        g_autoptr(List) list = rest_list(call);
        if (!list)
            return false;
        scope->place = g_strdup(list->list_id);
        scope->base = g_strdup_printf("lists/%s/uris", list->list_id);
    } else if (of == OF_DOMAIN) {
        g_autoptr(Domain) domain = domain_find(call->store, call->args[0], &error);
        if (!domain) {
            rest_fail(call, error);
            return false;
        }
        scope->place = template_text_place(domain->mail_host);
        scope->base = g_strdup_printf("domains/%s/uris", domain->mail_host);
    } else {
        scope->place = g_strdup("");
        scope->base = g_strdup("uris");
    }
    if (!scope->name || has_template(scope, scope->name))
        return true;
    answer_refusal(call, 404, "There is no template %s", scope->name);
    return false;
}

static json_t *text_json(const Call *call, const TemplateScope *scope, const TemplateText *text)
{
    json_t *object = json_pack("{so so so}", "name", json_words(text->name), "self_link",
                               json_link(call, "%s/%s", scope->base, text->name), "uri", json_words(text->uri));
    if (text->username && *text->username) {
        json_object_set_new(object, "username", json_words(text->username));
        json_object_set_new(object, "password", json_words(text->password ? text->password : ""));
    }
    return object;
}

/* The texts of the place that come from somewhere; those that people keep here have no URI to show. */
static void get_all(Call *call)
{
    g_auto(TemplateScope) scope = {0};
    g_auto(Page) page = {0};
    GError *error = NULL;
    if (!page_begin(call, "", "", &page) || !read_scope(call, &scope))
        return;
    g_autoptr(GPtrArray) all = template_text_all(call->store, scope.place, &error);
    for (guint i = 0; all && i < all->len; i++) {
        const TemplateText *text = all->pdata[i];
        if (*text->uri && page_takes(&page))
            page_add(&page, text_json(call, &scope, text));
    }
    answer_page(call, scope.base, &page, &error);
}

static void get_one(Call *call)
{
    g_auto(TemplateScope) scope = {0};
    GError *error = NULL;
    if (!read_scope(call, &scope))
        return;
    g_autoptr(GPtrArray) all = template_text_all(call->store, scope.place, &error);
    for (guint i = 0; all && i < all->len; i++) {
        const TemplateText *text = all->pdata[i];
        if (*text->uri && strcmp(text->name, scope.name) == 0) {
            json_t *object = text_json(call, &scope, text);
            json_object_del(object, "name");
            answer_json(call, 200, object);
            return;
        }
    }
    if (all)
        answer_refusal(call, 404, "Nobody set the template %s here", scope.name);
    else
        rest_fail(call, error);
}

/* ---- changing ---- */

static bool is_template(const TemplateScope *scope, const char *name)
{
    return scope->name ? strcmp(scope->name, name) == 0 : has_template(scope, name);
}

/* False: 400 was answered. With PUT, each template of the place must be there; clients know those of Mailman only. */
static bool names_allowed(Call *call, const TemplateScope *scope)
{
    g_autoptr(GString) missing = g_string_new(NULL);
    for (guint i = 0; i < call->form.names->len; i++) {
        const char *name = call->form.names->pdata[i];
        if (!is_template(scope, name) && strcmp(name, "username") != 0 && strcmp(name, "password") != 0) {
            answer_refusal(call, 400, "Unexpected parameters: %s", name);
            return false;
        }
        if (!scope_takes(call, name))
            return false;
    }
    for (size_t at = 0; call_puts(call) && template_table[at].mailman; at++) {
        const char *name = template_table[at].mailman;
        bool wanted = scope->name || at < TEMPLATES_OF_MAILMAN;
        if (wanted && is_template(scope, name) && !form_has(call, name))
            g_string_append_printf(missing, "%s%s", missing->len ? ", " : "", name);
    }
    if (missing->len > 0)
        answer_refusal(call, 400, "Missing Parameter: %s", missing->str);
    else if (form_has(call, "username") != form_has(call, "password"))
        answer_refusal(call, 400, "Specify both username and password, or neither");
    else
        return true;
    return false;
}

/* An empty URI takes the template away. */
static void change(Call *call)
{
    g_auto(TemplateScope) scope = {0};
    GError *error = NULL;
    if (!read_scope(call, &scope) || !names_allowed(call, &scope))
        return;
    g_autoptr(Work) work = rest_begin(call);
    bool fine = work != NULL;
    for (guint i = 0; fine && i < call->form.names->len; i++) {
        const char *name = call->form.names->pdata[i], *uri = form_text(call, name);
        g_autoptr(GError) missing = NULL;
        const TemplateText text = {.name = (char *)name,
                                   .place = scope.place,
                                   .language = (char *)"",
                                   .uri = (char *)uri,
                                   .username = (char *)form_text(call, "username"),
                                   .password = (char *)form_text(call, "password")};
        if (!is_template(&scope, name))
            continue;
        fine = *uri ? template_set(work, &text, &error)
                    : template_unset(work, scope.place, name, NULL, &missing) ||
                          fail_unless(&error, FAIL_MISSING, &missing);
    }
    rest_finish(call, work, fine, &error);
}

static void delete(Call *call)
{
    g_auto(TemplateScope) scope = {0};
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") && read_scope(call, &scope) ? rest_begin(call) : NULL;
    g_autoptr(GPtrArray) all = work ? template_text_all(work_store(work), scope.place, &error) : NULL;
    bool fine = all != NULL;
    for (guint i = 0; fine && i < all->len; i++) {
        const TemplateText *text = all->pdata[i];
        if (*text->uri && (!scope.name || strcmp(scope.name, text->name) == 0))
            fine = template_unset(work, scope.place, text->name, text->language, &error);
    }
    rest_finish(call, work, fine, &error);
}

/* The others are names of templates, whose rows say who may set them (lists/letters/template_name.c). */
static const RestField fields[] = {
    {"name", MAY_LIST, MAY_NOBODY},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {"uri", MAY_LIST, MAY_NOBODY},
    {"username", MAY_LIST, MAY_LIST},
    {"password", MAY_SITE, MAY_LIST},
    {"*", MAY_NOBODY, MAY_LIST},
    {0},
};

#define ROUTES(path, of, who, read) \
    {"GET", path, of, who, fields, read, NULL}, {"PATCH", path, of, who, fields, change, NULL}, \
        {"PUT", path, of, who, fields, change, NULL}, {"DELETE", path, of, who, fields, delete, NULL}

const RestRoute rest_templates[] = {
    ROUTES("uris", OF_SITE, MAY_SITE, get_all),
    ROUTES("uris/{name}", OF_SITE, MAY_SITE, get_one),
    ROUTES("domains/{mail_host}/uris", OF_DOMAIN, MAY_DOMAIN, get_all),
    ROUTES("domains/{mail_host}/uris/{name}", OF_DOMAIN, MAY_DOMAIN, get_one),
    ROUTES("lists/{list}/uris", OF_LIST, MAY_LIST, get_all),
    ROUTES("lists/{list}/uris/{name}", OF_LIST, MAY_LIST, get_one),
    {0},
};
