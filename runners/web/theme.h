/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * How pages look: templates (NAME.mustache), texts in other languages (po/LANGUAGE.po) and files that are served as
 * they are (style.css). Each is read from the site's folder, [web] directory, where it has one of that name, else from
 * the built-in folder. All is read at the start; a template that cannot be parsed keeps the runner from starting.
 *
 * A language is what the files of po/ are called, and "en", in which the templates are written.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

typedef struct Theme Theme;

/* site NULL: the site has no folder of its own. FAIL_CONFIG, FAIL_LATER as of what is read. */
Theme *theme_new(const char *built_in, const char *site, GError **error);
void theme_free(Theme *theme);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Theme, theme_free)

/* Choose the language that suits an Accept-Language field best (RFC 9110, 12.5.4); NULL: there is none. Borrowed from
 * the theme. */
const char *theme_language(const Theme *theme, const char *accept);

/* Mark a text that is translated later: t/style/pages.t looks for it in the catalogues. */
#define N_(text) text

/* Return text in the language, borrowed; theme NULL: as it is written. */
const char *theme_text(const Theme *theme, const char *language, const char *text);

/* Append the page NAME. FAIL_CONFIG: partials without an end. FAIL_MISSING: there is no such template. */
bool theme_fill(const Theme *theme, const char *language, const char *name, const json_t *view, GString *out,
                GError **error);

/* A file that is served as it is. */
typedef struct ThemeFile {
    const char *name, *type; /* "style.css", "text/css; charset=utf-8" */
    GBytes *content;
    char *tag; /* for ETag, with its quotation marks */
} ThemeFile;

/* NULL: there is none of that name. */
const ThemeFile *theme_file(const Theme *theme, const char *name);
