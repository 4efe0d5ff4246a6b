/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Put the token of a letter where the answer brings it back. That is the address to which the answer goes,
 * test-confirm+TOKEN@example.com. A list with a long name has no room for it there (RFC 5321, 4.5.3.1.1); then it is
 * the Subject, which an answer repeats: "Please confirm (confirm TOKEN)".
 */
#include "lists/work.h"
#include "store/lists/list.h"

typedef struct TokenReturn {
    char *address; /* for From or Reply-To */
    char *mark;    /* to stand behind the Subject; "" where the address has the token */
} TokenReturn;

/* Fill *back for a letter about the list. */
void token_return_make(const Work *work, const List *list, const char *token, TokenReturn *back);
void token_return_clear(TokenReturn *back);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TokenReturn, token_return_clear)

/* Return the token in the Subject of an answer; g_free(). NULL: there is none. */
char *token_return_in(const char *subject);
