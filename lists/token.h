/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tokens for programs that use the REST interface, "lrt_1f0c93aa_" and 64 hex digits: an id that may be shown, and 256
 * random bits, of which the store keeps a digest alone.
 */
#include "lists/work.h"
#include "store/token.h"

#define TOKEN_PREFIX "lrt_"

/* Make a token with the scopes and times of *like, whose id and digest do not count. Returns its text, which is told
 * this once; g_free(). FAIL_NEVER: it has expired already. */
char *token_create(Work *work, const Token *like, char id[TOKEN_ID_SIZE], GError **error);
/* FAIL_MISSING: there is no such token. */
bool token_revoke(Work *work, const char *id, GError **error);
/* The token of this text. FAIL_MISSING: there is none, its secret is another one, or it has expired. The secret is
 * compared in a time that tells nothing of it. That it was used is written at most once a minute. */
Token *token_check(Store *store, const char *text, int64_t now, GError **error);
