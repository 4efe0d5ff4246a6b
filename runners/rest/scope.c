/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* What a token may do: verbs, lists and domains. */
#include <string.h>

#include "base/fail.h"
#include "runners/rest/resources.h"

static bool has_word(const char *words, const char *word)
{
    g_auto(GStrv) all = g_strsplit(words, " ", -1);
    return g_strv_contains((const char *const *)all, word);
}

static bool verb_allowed(const Token *token, const char *verb)
{
    return !*token->verbs || has_word(token->verbs, verb) ||
           (strcmp(verb, "HEAD") == 0 && has_word(token->verbs, "GET"));
}

static bool domain_allowed(const Token *token, const char *mail_host)
{
    g_autofree char *lower = g_utf8_strdown(mail_host, -1);
    return has_word(token->domains, lower);
}

static bool list_allowed(const Token *token, const List *list)
{
    return list && (has_word(token->lists, list->list_id) || domain_allowed(token, list->mail_host));
}

/* The list that the call is about. NULL: it is about none, which is no error, or it cannot be found. */
static List *list_of(Call *call, Store *store, const char *pattern, GError **error)
{
    char id[STORE_ID_SIZE];
    const char *named = g_str_has_prefix(pattern, "lists/{list}") ? call->args[0]
                        : strcmp(pattern, "members") == 0 || strcmp(pattern, "members/find") == 0
                            ? form_text(call, "list_id")
                            : NULL;
    if (named)
        return list_find(store, named, error);
    g_autoptr(Member) member = g_str_has_prefix(pattern, "members/{member}") && id_parse(call, call->args[0], id)
                                   ? member_by_id(store, id, error)
                                   : NULL;
    return member ? list_by_id(store, member->list_id, error) : NULL;
}

/* Is what the call is about in the scope of lists and domains? What is nobody's in particular (users, addresses, the
 * site) is not; what this server is, everybody may know. */
static bool place_allowed(Call *call, Store *store, const RestRoute *route, GError **error)
{
    const Token *token = call->token;
    const char *new_list = form_text(call, "fqdn_listname"), *at = new_list ? strrchr(new_list, '@') : NULL;
    if (strcmp(route->path, "system") == 0 || strcmp(route->path, "system/versions") == 0 ||
        strcmp(route->path, "listrunner/events") == 0) /* it gets those of its lists */
        return true;
    if (g_str_has_prefix(route->path, "domains/{mail_host}"))
        return domain_allowed(token, call->args[0]);
    if (strcmp(route->path, "lists") == 0 && strcmp(route->verb, "POST") == 0)
        return at && domain_allowed(token, at + 1);
    g_autoptr(List) list = list_of(call, store, route->path, error);
    return list_allowed(token, list);
}

/* The domain of a list that is gone; g_free(). In "gone.team.example.com" it is the longest end that is a domain here;
 * where none is, all behind the first dot. NULL: error is set. */
static char *domain_of(Store *store, const char *list_id, GError **error)
{
    for (const char *dot = strchr(list_id, '.'); dot; dot = strchr(dot + 1, '.')) {
        g_autoptr(GError) fault = NULL;
        g_autoptr(Domain) domain = domain_find(store, dot + 1, &fault);
        if (domain)
            return g_strdup(dot + 1);
        if (!g_error_matches(fault, FAIL, FAIL_MISSING)) {
            g_propagate_error(error, g_steal_pointer(&fault));
            return NULL;
        }
    }
    const char *dot = strchr(list_id, '.');
    return g_strdup(dot ? dot + 1 : "");
}

bool token_covers(const Token *token, Store *store, const char *list_id, bool *covers, GError **error)
{
    g_autoptr(GError) fault = NULL;
    *covers = (!*token->lists && !*token->domains) || has_word(token->lists, list_id);
    if (*covers || !*token->domains)
        return true;
    g_autoptr(List) list = list_by_id(store, list_id, &fault);
    if (!list && !g_error_matches(fault, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&fault));
        return false;
    }
    g_autofree char *domain = list ? g_strdup(list->mail_host) : domain_of(store, list_id, error);
    *covers = domain && domain_allowed(token, domain);
    return domain != NULL;
}

bool token_allows(Call *call, const RestRoute *route)
{
    const Token *token = call->token;
    if (!token)
        return true;
    GError *error = NULL;
    Store *store = rest_store(call);
    if (!store)
        return false;
    if (token->metrics || !verb_allowed(token, http_verb(call->http))) {
        answer_refusal(call, 403, "The token %s is not for %s here", token->id, http_verb(call->http));
        return false;
    }
    bool everywhere = !*token->lists && !*token->domains;
    if (everywhere || place_allowed(call, store, route, &error))
        return true;
    if (!error || rest_missing(call, error))
        answer_refusal(call, 403, "The token %s is for other lists or domains than this", token->id);
    return false;
}
