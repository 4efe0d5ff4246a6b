/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the texts of pages in another language, from a file in the format PO of GNU gettext:
 *
 *   #: leave.mustache
 *   msgid "Leave {{list}} now?"
 *   msgstr "{{list}} jetzt verlassen?"
 *
 * Entries that are marked fuzzy or have an empty msgstr count as missing. A line with msgctxt, msgid_plural or
 * msgstr[0] is a mistake: the pages word a text so that it does not depend on a number.
 */
#include <glib.h>

typedef struct Catalogue Catalogue;

/* Read a file. FAIL_MISSING: there is no such file. FAIL_CONFIG: it has a mistake (the message has the line), or is not
 * in UTF-8. FAIL_LATER: it cannot be read. */
Catalogue *catalogue_read(const char *path, GError **error);
void catalogue_free(Catalogue *catalogue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Catalogue, catalogue_free)

/* Return the translation, borrowed; text itself where there is none, or catalogue is NULL. */
const char *catalogue_text(const Catalogue *catalogue, const char *text);
