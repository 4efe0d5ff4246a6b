/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the value of a Content-Type field by the grammar of RFC 2045 (comments, quoted strings, any case), with the
 * parameters of RFC 2231 (pieces, percent signs, charsets). Nothing fails. A value that the grammar does not allow, so
 * that mail programs may read it in two ways, is marked as broken; a caller that decides something by it looks at that.
 */
#include <glib.h>
#include <stdbool.h>

typedef struct ContentType {
    char *type;            /* "text/plain", as written, without comments; "" when there is none */
    GPtrArray *parameters; /* private */
    bool broken;           /* there is something that the grammar does not allow */
} ContentType;

/* Read a value, which may be anything; never NULL. content_type_free() */
ContentType *content_type_parse(const char *value);
void content_type_free(ContentType *type);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ContentType, content_type_free)

/* Set *value to the bytes of a parameter, decoded; g_free(). NULL: there is no such parameter. Return false, with
 * *value NULL, when the parameter stands there more than once, in pieces that do not fit, or with a NUL in it. */
bool content_type_parameter(const ContentType *type, const char *name, char **value);

/* Append every text (UTF-8, g_free()) that some mail program may read as this parameter. Of several parameters of the
 * name each gives one; pieces that do not fit are joined in each way. The text by the standard, if any, comes first. */
void content_type_texts(const ContentType *type, const char *name, GPtrArray *texts);

/* Return the number of parameters; each piece of one counts. */
unsigned content_type_parameters(const ContentType *type);

/* Return the parameter as content_type_parameter() does. Where that fails, return the first one that is not in pieces,
 * for a caller that has to make something of a broken mail. g_free(); NULL: there is none. */
char *content_type_first(const ContentType *type, const char *name);

/* Return the one word of a value such as that of Content-Transfer-Encoding, without comments. When more follows the
 * word, return the whole value, which then equals no known word. g_free() */
char *content_token(const char *value);
