/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Set and remove the texts of letters (store/template_text.h) of a list, a domain or the site. */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/template_text.h"

/* Store a text. It is text->text, or, if text->uri is set, what the timer fetches from there, at once and again from
 * time to time. text->name may be either of a template's names (lists/template_name.h). text->language may be written
 * "de-AT" or "de_AT". FAIL_MISSING: there is no such template, list or domain. FAIL_NEVER: the text has a placeholder
 * that is not filled in, the URI cannot be used, the language is none, or a list cannot have that template. */
bool template_set(Work *work, const TemplateText *text, GError **error);

/* Remove the text of a template at a place, in this language, or (NULL) in all. FAIL_MISSING: there is no such
 * template, or nobody set it there. */
bool template_unset(Work *work, const char *place, const char *name, const char *language, GError **error);

/* Which file of the installation does "mailman:///[LANGUAGE/]NAME[.txt]" name? NULL: none that there is. *language
 * (g_free()) is NULL where the URI names none, or a placeholder. */
const char *template_installed(const char *uri, char **language);

/* Return whether the file of a URI "file:///..." may be read: it exists below the site's folder of templates
 * (WorkSite.templates). FAIL_NEVER: it does not. */
bool template_file_allowed(const WorkSite *site, const char *uri, GError **error);
