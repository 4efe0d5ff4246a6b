/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/token.h"

#include <string.h>

#include "base/fail.h"
#include "store/row.h"
#include "store/store_internal.h"

#define COLUMNS "id, digest, name, verbs, lists, domains, metrics, made_at, expires_at, used_at"

static const RowField token_row[] = {ROW(Token, digest),  ROW(Token, name),       ROW(Token, verbs),
                                     ROW(Token, lists),   ROW(Token, domains),    ROW(Token, metrics),
                                     ROW(Token, made_at), ROW(Token, expires_at), ROW(Token, used_at)};

void token_free(Token *token)
{
    row_free(token_row, token);
}

static void *read_row(Query *query)
{
    Token *token = g_new0(Token, 1);
    g_strlcpy(token->id, query_text(query, 0), sizeof token->id);
    row_read(query, 1, token_row, token);
    return token;
}

bool token_add(Store *store, const Token *token, GError **error)
{
    return STORE_WRITE(
        store, error,
        query_change_one(store, error, fail(error, FAIL_EXISTS, "there is a token %s already", token->id),
                         "INSERT INTO token (" COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
                         "ON CONFLICT (id) DO NOTHING",
                         TEXT(token->id), TEXT(token->digest), TEXT(token->name), TEXT(token->verbs),
                         TEXT(token->lists), TEXT(token->domains), INTEGER(token->metrics), INTEGER(token->made_at),
                         INTEGER(token->expires_at), INTEGER(token->used_at)));
}

static bool no_token(const char *id, GError **error)
{
    return fail(error, FAIL_MISSING, "there is no token %s; listrunner token ls shows them", id);
}

Token *token_find(Store *store, const char *id, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, "SELECT " COLUMNS " FROM token WHERE id = $1", TEXT(id));
    Step step = query_step(query, error);
    if (step == STEP_DONE)
        no_token(id, error);
    return step == STEP_ROW ? read_row(query) : NULL;
}

bool token_remove(Store *store, const char *id, GError **error)
{
    return STORE_WRITE(
        store, error, query_change_one(store, error, no_token(id, error), "DELETE FROM token WHERE id = $1", TEXT(id)));
}

/* Words without one of them; g_free(). */
static char *without(const char *words, const char *gone)
{
    g_auto(GStrv) all = g_strsplit(words, " ", -1);
    GString *left = g_string_new(NULL);
    for (char **word = all; *word; word++)
        if (**word && g_strcmp0(*word, gone) != 0)
            g_string_append_printf(left, "%s%s", left->len > 0 ? " " : "", *word);
    return g_string_free(left, FALSE);
}

bool token_forget(Store *store, const char *list_id, const char *mail_host, GError **error)
{
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    g_autoptr(GPtrArray) all = write.begun ? token_all(store, error) : NULL;
    if (!all)
        return false;
    for (guint at = 0; at < all->len; at++) {
        const Token *token = all->pdata[at];
        g_autofree char *lists = without(token->lists, list_id), *domains = without(token->domains, mail_host);
        bool empty = !*lists && !*domains; /* an empty scope is the whole site */
        if (strcmp(lists, token->lists) == 0 && strcmp(domains, token->domains) == 0)
            continue;
        if (empty ? !query_run(store, error, NULL, "DELETE FROM token WHERE id = $1", TEXT(token->id))
                  : !query_run(store, error, NULL, "UPDATE token SET lists = $2, domains = $3 WHERE id = $1",
                               TEXT(token->id), TEXT(lists), TEXT(domains)))
            return false;
    }
    return write_end(&write, error);
}

bool token_set_used(Store *store, const char *id, int64_t now, GError **error)
{
    return STORE_WRITE(store, error,
                       query_change_one(store, error, no_token(id, error),
                                        "UPDATE token SET used_at = $2 WHERE id = $1", TEXT(id), INTEGER(now)));
}

GPtrArray *token_all(Store *store, GError **error)
{
    g_autoptr(Query) query =
        query_start(store, error, "SELECT " COLUMNS " FROM token ORDER BY made_at, id", NULL, 0);
    return row_collect(query, read_row, (GDestroyNotify)token_free, error);
}
