/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Lines of text for people's mail programs. */
#include <glib.h>

#define FOLD_COLUMNS 78 /* RFC 5322 section 2.1.1 */

/* Append each line of text, in UTF-8, in lines of at most FOLD_COLUMNS columns that begin with indent and end in LF.
 * Lines are broken at blanks and between wide (East Asian) characters; what has neither stays whole. A blank line gets
 * no indent. */
void fold_append(GString *to, const char *indent, const char *text);

/* Fold the paragraphs of a text; lines that begin with a blank, '>' or "-- " stay as they are: they are examples,
 * tables, quotations, the signature. Words that did not fit into a line go before the next one where the sentence goes
 * on there, that is where it begins with a small letter. g_free() */
char *fold_paragraphs(const char *text);
