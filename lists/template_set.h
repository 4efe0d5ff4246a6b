/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Texts of letters (store/template_text.h) are set and taken away, for a list, a domain or the site. */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/template_text.h"

/* Keeps text->text, or text->uri, from where the timer then fetches it at once and now and again; name may be either of
 * a template's names (lists/template_name.h), and language be written in any usual way. FAIL_MISSING: there is no such
 * template, list or domain. FAIL_NEVER: the text has a placeholder that is not filled in, the URI cannot be used, the
 * language is none, or a list cannot have that template. */
bool template_set(Work *work, const TemplateText *text, GError **error);

/* language NULL: in all languages. FAIL_MISSING: there is no such template, or nobody set it there. */
bool template_unset(Work *work, const char *place, const char *name, const char *language, GError **error);

/* Which file of the installation does "mailman:///[LANGUAGE/]NAME[.txt]" name? NULL: none that there is. *language
 * (g_free()) is NULL where the URI names none, or a placeholder. */
const char *template_installed(const char *uri, char **language);

/* Is the file of a URI "file:///..." one that may be read: below the site's folder of templates? */
bool template_file_allowed(const WorkSite *site, const char *uri, GError **error);
