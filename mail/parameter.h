/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The value of a Content-Type field, read by the grammar of RFC 2045 (comments, quoted strings, any case) with the
 * parameters of RFC 2231 (pieces, percent signs, charsets). Where two readings are possible the value is broken, for
 * who decides by it; nothing fails.
 */
#include <glib.h>
#include <stdbool.h>

typedef struct ContentType {
    char *type;            /* "text/plain", as written, without comments; "" when there is none */
    GPtrArray *parameters; /* private */
    bool broken;           /* there is something that the grammar does not allow */
} ContentType;

ContentType *content_type_parse(const char *value);
void content_type_free(ContentType *type);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ContentType, content_type_free)

/* *value (g_free()) is the parameter's bytes, NULL when there is none; false when it stands there more than once,
 * or in pieces that do not fit. */
bool content_type_parameter(const ContentType *type, const char *name, char **value);

/* Append all texts (UTF-8, g_free()) that readers may take the parameter for: of several each, and pieces that do not
 * fit joined in each way. The first is the one by the standard, where that has one. */
void content_type_texts(const ContentType *type, const char *name, GPtrArray *texts);

/* How many parameters there are, each piece counted. */
unsigned content_type_parameters(const ContentType *type);

/* Return the parameter as content_type_parameter() has it, and where that has none because it stands there more than
 * once, the first: for who has to make something of a broken mail. NULL: there is none. g_free(). */
char *content_type_first(const ContentType *type, const char *name);

/* The first word of a value like Content-Transfer-Encoding's, comments left out; the whole when more
 * follows, so that it equals no word. g_free(). */
char *content_token(const char *value);
