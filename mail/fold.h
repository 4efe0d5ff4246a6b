/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Break text into lines that fit people's mail programs. */
#include <glib.h>

#define FOLD_COLUMNS 78 /* RFC 5322 section 2.1.1 */

/* Append each line of text, in UTF-8, in lines of at most FOLD_COLUMNS columns that begin with indent and end in LF.
 * Lines are broken at blanks and between wide (East Asian) characters; what has neither stays whole. A blank line gets
 * no indent. */
void fold_append(GString *to, const char *indent, const char *text);

/* Return the text with its lines folded to FOLD_COLUMNS; g_free(). Lines that begin with a blank, '>' or "-- " stay as
 * they are, because they are examples, tables, quotations or the signature. Words that did not fit into a line are put
 * before the next line when that begins with a small letter: the sentence then goes on there. */
char *fold_paragraphs(const char *text);
