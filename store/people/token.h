/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tokens: what programs show to the REST interface instead of a password. The store holds a digest of the secret half;
 * lists/people/token.h makes and checks them.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

#define TOKEN_ID_SIZE 9 /* 8 hex digits */

typedef struct Token {
    char id[TOKEN_ID_SIZE];
    char *digest;  /* SHA-256 of the secret half, in hex */
    char *name;    /* for people: what it is for */
    char *verbs;   /* "GET POST"; "": all */
    char *lists;   /* List-Ids; "": all */
    char *domains; /* mail domains; "": all. With both, one of them is enough */
    bool metrics;  /* for the figures alone */
    int64_t made_at, expires_at, used_at; /* expires_at 0: never; used_at 0: not yet */
} Token;

void token_free(Token *token);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Token, token_free)

/* Add the token. FAIL_EXISTS: there is one with that id. */
bool token_add(Store *store, const Token *token, GError **error);
/* Return the token, also one that has expired; token_free(). FAIL_MISSING: there is none with that id. */
Token *token_find(Store *store, const char *id, GError **error);
/* Remove the token. FAIL_MISSING: there is none with that id. */
bool token_remove(Store *store, const char *id, GError **error);
/* Take a list or a domain (NULL: none) that is being removed out of the scopes (lists, domains) of all tokens. So a
 * later list or domain of the same name is not open to them. A token whose scopes become empty by that is removed. */
bool token_forget(Store *store, const char *list_id, const char *mail_host, GError **error);
/* Note that the token was used now. FAIL_MISSING: there is none with that id. */
bool token_set_used(Store *store, const char *id, int64_t now, GError **error);
/* Return all tokens (of Token, freed with the array), the oldest first. */
GPtrArray *token_all(Store *store, GError **error);
