/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Fill Mustache templates: the language of https://mustache.github.io/mustache.5.html without lambdas, as far as the
 * required modules of its specification 1.4 go (comments, delimiters, interpolation, inverted, partials, sections).
 *
 *   <h1>{{title}}</h1>            the value, with & < > " ' escaped
 *   {{{html}}} or {{&html}}       the value as it is
 *   {{#lists}}...{{/lists}}       once for each element; once with an object or another true value
 *   {{^lists}}...{{/lists}}       when that is missing, false, null, empty text or an empty array
 *   {{person.name}} {{.}}         a member of an object; the element itself
 *   {{>head}}                     another template
 *   {{#_}}Leave {{list}}?{{/_}}   text in the language of the reader: what is inside is the key of its translation
 *
 * A template is parsed once for each language, and may be filled many times and in several threads.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

typedef struct Mustache Mustache;

/* Translate the text of a {{#_}}, whose runs of white space are single blanks; g_free(). */
typedef char *MustacheTranslate(void *data, const char *text);

/* Parse text; name is for messages. translate NULL: text stays as it is. FAIL_CONFIG: a mistake, with its line. */
Mustache *mustache_new(const char *name, const char *text, MustacheTranslate *translate, void *data, GError **error);
void mustache_free(Mustache *template);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Mustache, mustache_free)

/* Return the template that {{>name}} names, borrowed; NULL: there is none, and nothing stands in its place. */
typedef const Mustache *MustachePartial(void *data, const char *name);

/* Append the template, filled with view, to out. partial NULL: there are none. FAIL_CONFIG: partials are nested more
 * than MUSTACHE_DEPTH deep, so one contains itself without an end. */
#define MUSTACHE_DEPTH 50
bool mustache_fill(const Mustache *template, const json_t *view, MustachePartial *partial, void *data, GString *out,
                   GError **error);

/* Append text, a sentence for people and no page, filled with values; they are not escaped. FAIL_CONFIG: a mistake in
 * text, and nothing was appended. */
bool mustache_say(const char *text, const json_t *values, GString *out, GError **error);

/* Append text with & < > " ' escaped. */
void mustache_escape(GString *out, const char *text);
