/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Set and remove the texts of letters (store/lists/template_text.h) of a list, a domain or the site. */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/lists/template_text.h"

/* Set the text of a template at a place, in the unit's transaction. The text is text->text. If text->uri is set
 * instead, the timer fetches the text from there, at once after the commit and again from time to time. text->name may
 * be either of a template's names (lists/letters/template_name.h). text->language may be written "de-AT" or "de_AT".
 * FAIL_MISSING: there is no such template, list or domain. FAIL_NEVER: the text has a placeholder that is not filled
 * in, the URI cannot be used, the language is none, or the place may not set that template. */
bool template_set(Work *work, const TemplateText *text, GError **error);

/* Remove the text of a template at a place, in this language, or (language NULL) in all. FAIL_MISSING: there is no such
 * template, or it has no text there. */
bool template_unset(Work *work, const char *place, const char *name, const char *language, GError **error);

/* Return the file of the template (TemplateName.file) that the URI "mailman:///[LANGUAGE/]NAME[.txt]" names. NULL: it
 * names none, or one without a file. *language (g_free()) is NULL where the URI names none, or a placeholder. */
const char *template_installed(const char *uri, char **language);

/* Check that the file of a URI "file:///..." may be read: that it exists below the site's folder of templates
 * (WorkSite.templates). FAIL_NEVER: it does not. */
bool template_file_allowed(const WorkSite *site, const char *uri, GError **error);
