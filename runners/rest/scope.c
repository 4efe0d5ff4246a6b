/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Asks the tables of authority: may the caller call this route, see that field, set this one? A user of the password
 * file, and a token without lists and domains, is the site; what the others are depends on what the route is about.
 */
#include "runners/rest/scope.h"

#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "runners/rest/resources.h"

static bool has_word(const char *words, const char *word)
{
    g_auto(GStrv) all = g_strsplit(words, " ", -1);
    return g_strv_contains((const char *const *)all, word);
}

bool token_has_verb(const Token *token, const char *verb)
{
    return !*token->verbs || has_word(token->verbs, verb) ||
           (strcmp(verb, "HEAD") == 0 && has_word(token->verbs, "GET"));
}

static bool domain_allowed(const Token *token, const char *mail_host)
{
    g_autofree char *lower = g_utf8_strdown(mail_host, -1);
    return has_word(token->domains, lower);
}

/* ---- what a call is about ---- */

/* The relation of a token for lists and domains. *error: the store failed, or that is not there. */
static Authority relation_to(Call *call, const RestRoute *route, GError **error)
{
    const Token *token = call->token;
    const char *named = NULL, *mail_host = NULL;
    g_autoptr(List) list = NULL;
    g_autoptr(Member) member = NULL;
    char id[STORE_ID_SIZE];
    switch (route->of) {
    case OF_DOMAIN:
        mail_host = call->args[0];
        break;
    case OF_NEW_LIST:
        mail_host = form_text(call, "fqdn_listname");
        mail_host = mail_host ? strrchr(mail_host, '@') : NULL;
        mail_host = mail_host ? mail_host + 1 : NULL;
        break;
    case OF_LIST:
    case OF_NAMED_LIST:
        named = route->of == OF_LIST ? call->args[0] : form_text(call, "list_id");
        list = named ? list_find(call->store, named, error) : NULL;
        break;
    case OF_MEMBER:
        member = id_parse(call, call->args[0], id) ? member_by_id(call->store, id, error) : NULL;
        list = member ? list_by_id(call->store, member->list_id, error) : NULL;
        break;
    default:
        break;
    }
    if (list)
        mail_host = list->mail_host;
    return mail_host && domain_allowed(token, mail_host)   ? BY_DOMAIN
           : list && has_word(token->lists, list->list_id) ? BY_LIST
                                                           : BY_STRANGER;
}

static bool is_for_site(const Token *token)
{
    return !*token->lists && !*token->domains;
}

bool token_covers(const Token *token, Store *store, const char *list_id, bool *covers, GError **error)
{
    g_autoptr(GError) fault = NULL;
    *covers = is_for_site(token) || has_word(token->lists, list_id);
    if (*covers || !*token->domains)
        return true;
    g_autoptr(List) list = list_by_id(store, list_id, &fault);
    *covers = list && domain_allowed(token, list->mail_host);
    return list || fail_unless(error, FAIL_MISSING, &fault);
}

bool token_sees(const Token *token, Store *store, const EventRow *event, bool *sees, GError **error)
{
    bool by_list, by_domain;
    *sees = is_for_site(token);
    if (*sees || !event->place.mail_host || !*event->place.mail_host)
        return true;
    bool has_list = has_word(token->lists, event->list_id), has_domain = domain_allowed(token, event->place.mail_host);
    if (!has_list && !has_domain)
        return true;
    if (!event_row_stands(store, event, &by_list, &by_domain, error))
        return false;
    *sees = (has_list && by_list) || (has_domain && by_domain);
    return true;
}

bool scope_allows(Call *call, const RestRoute *route)
{
    const Token *token = call->token;
    GError *error = NULL;
    call->route = route;
    call->by = !token || (!token->metrics && is_for_site(token)) ? BY_SITE : token->metrics ? BY_FIGURES : 0;
    if (!call->by) { /* then it depends on what the route is about */
        call->by = relation_to(call, route, &error);
        if (error && !rest_missing(call, error)) {
            call->by = 0;
            return false;
        }
    }
    bool has_verb = !token || token_has_verb(token, http_verb(call->http));
    if (has_verb && authority_covers(route->who, call->by))
        return true;
    if (!token) /* a route without a right */
        answer_refusal(call, 403, "This is for nobody");
    else if (!has_verb || call->by == BY_FIGURES)
        answer_refusal(call, 403, "The token %s is not for %s here", token->id, http_verb(call->http));
    else if (call->by == BY_STRANGER)
        answer_refusal(call, 403, "The token %s is for other lists or domains than this", token->id);
    else
        answer_refusal(call, 403, "%s is for the site to do here; the token %s is for lists or domains alone",
                       http_verb(call->http), token->id);
    return false;
}

/* ---- fields ---- */

/* These choose of any collection. */
static const RestField choosing[] = {
    {"count", MAY_KNOWN, MAY_KNOWN},
    {"fields", MAY_KNOWN, MAY_KNOWN},
    {"page", MAY_KNOWN, MAY_KNOWN},
    {0},
};

static const RestField *row_of(const RestField *rows, const char *name)
{
    for (; rows && rows->name; rows++)
        if (strcmp(rows->name, name) == 0)
            return rows;
    return NULL;
}

const RestField *scope_field(const Call *call, const char *name)
{
    const RestField *own = call->route ? call->route->fields : NULL, *row = row_of(own, name);
    row = row ? row : row_of(choosing, name);
    return row ? row : row_of(own, "*");
}

static bool may(const Call *call, const char *field, bool reads)
{
    const RestField *row = scope_field(call, field);
    return row && authority_covers(reads ? row->read : row->write, call->by);
}

void scope_show(const Call *call, json_t *object)
{
    const char *name;
    void *next;
    json_t *value;
    json_object_foreach_safe(object, next, name, value) {
        if (!scope_field(call, name))
            log_error("%s: the field %s is in no table, and is shown to nobody", call->route->path, name);
        if (!may(call, name, true))
            json_object_del(object, name);
    }
}

bool scope_takes(Call *call, const char *name)
{
    const char *verb = http_verb(call->http);
    bool reads = strcmp(verb, "GET") == 0 || strcmp(verb, "HEAD") == 0;
    if (may(call, name, reads))
        return true;
    answer_refusal(call, 403, "The parameter %s is for the site alone here%s%s", name,
                   call->token ? "; this is the token " : "", call->token ? call->token->id : "");
    return false;
}
