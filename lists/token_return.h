/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * How the answer to a letter brings its token back: in the address that the answer goes to,
 * test-confirm+TOKEN@example.com, or, where a list with a long name has no room for it there (RFC 5321, 4.5.3.1.1), in
 * the Subject, which an answer repeats: "Please confirm (confirm TOKEN)".
 */
#include "lists/work.h"
#include "store/list.h"

typedef struct TokenReturn {
    char *address; /* for From or Reply-To */
    char *mark;    /* behind the Subject; mostly "" */
} TokenReturn;

/* Fills *back for a letter about list. */
void token_return_make(const Work *work, const List *list, const char *token, TokenReturn *back);
void token_return_clear(TokenReturn *back);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TokenReturn, token_return_clear)

/* The token in a Subject; NULL: it has none. g_free() */
char *token_return_in(const char *subject);
