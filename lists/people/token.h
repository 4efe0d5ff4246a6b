/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make, revoke and check tokens for programs that use the REST interface. A token is "lrt_1f0c93aa_" and 64 hex digits.
 * 1f0c93aa is its id, which may be shown. The digits are a secret, of which the store keeps a digest alone.
 */
#include "lists/work.h"
#include "store/people/token.h"

#define TOKEN_PREFIX "lrt_"

/* Make and store a token with the name, scopes and end of *like; id gets its new id. Returns its text (g_free()), which
 * cannot be read again later. FAIL_NEVER: the end has passed already. FAIL_LATER: there are no random bytes. */
char *token_create(Work *work, const Token *like, char id[TOKEN_ID_SIZE], GError **error);
/* Remove the token with this id, so that it is refused from the commit on. FAIL_MISSING: there is no such token. */
bool token_revoke(Work *work, const char *id, GError **error);
/* Return the token of this text, which a program sent; token_free(). FAIL_MISSING: there is no such token, its secret
 * is another one, or it has expired. The secret is compared in constant time. The time of use is written to the store
 * at most once a minute; if that write fails, so does token_check(). error must not be NULL. */
Token *token_check(Store *store, const char *text, int64_t now, GError **error);
