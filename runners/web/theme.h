/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read and fill the look of pages: templates (NAME.mustache), texts in other languages (po/LANGUAGE.po) and files that
 * are served as they are (style.css). Each is read from the site's folder, [web] directory, where it has one of that
 * name, else from the built-in folder. All is read at the start; a template that cannot be parsed keeps the runner
 * from starting.
 *
 * A language is named as its file in po/, such as "de". The templates are written in "en".
 *
 * Texts in another language are in a file of the format PO of GNU gettext:
 *
 *   #: leave.mustache
 *   msgid "Leave {{list}} now?"
 *   msgstr "{{list}} jetzt verlassen?"
 *
 * Entries that are marked fuzzy or have an empty msgstr count as missing. A line with msgctxt, msgid_plural or
 * msgstr[0] is a mistake: the pages word a text so that it does not depend on a number.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

typedef struct Theme Theme;

/* Read all from the folder built_in and from the site's folder; site NULL: it has none. FAIL_CONFIG: a file has a
 * mistake. FAIL_LATER: a file cannot be read. */
Theme *theme_new(const char *built_in, const char *site, GError **error);
void theme_free(Theme *theme);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Theme, theme_free)

/* Return the language of the theme that suits an Accept-Language field best (RFC 9110, 12.5.4), borrowed. It is "en"
 * when none suits, and when accept is NULL because there is no such field. */
const char *theme_language(const Theme *theme, const char *accept);

/* Mark a text that is translated later: t/style/pages.t looks for it in the catalogues. */
#define N_(text) text

/* Return text in the language, borrowed; theme NULL: as it is written. */
const char *theme_text(const Theme *theme, const char *language, const char *text);

/* Append to out the template NAME, filled with view in this language, or in "en" where the theme lacks it. FAIL_CONFIG:
 * its partials contain each other without an end. FAIL_MISSING: there is no such template. */
bool theme_fill(const Theme *theme, const char *language, const char *name, const json_t *view, GString *out,
                GError **error);

/* A file that is served as it is. */
typedef struct ThemeFile {
    const char *name, *type; /* "style.css", "text/css; charset=utf-8" */
    GBytes *content;
    char *tag; /* for ETag, with its quotation marks */
} ThemeFile;

/* Return the file of that name, borrowed; NULL: there is none. */
const ThemeFile *theme_file(const Theme *theme, const char *name);

/* ---- texts in another language ---- */

typedef struct Catalogue Catalogue;

/* Read a file. FAIL_MISSING: there is no such file. FAIL_CONFIG: it has a mistake (the message has the line), or is not
 * in UTF-8. FAIL_LATER: it cannot be read. */
Catalogue *theme_catalogue_read(const char *path, GError **error);
void theme_catalogue_free(Catalogue *catalogue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Catalogue, theme_catalogue_free)

/* Return the translation, borrowed; text itself where there is none, or catalogue is NULL. */
const char *theme_catalogue_text(const Catalogue *catalogue, const char *text);
