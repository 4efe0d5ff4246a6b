/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make text of strangers harmless to show: on a page, in a feed, on a terminal.
 *
 * The result is valid UTF-8 without
 *
 *   - control characters, C0 and C1, but for line feed and tab;
 *   - the embeddings and overrides of bidirectional text (U+202A to U+202E) and its isolates (U+2066 to U+2069), which
 *     let "exe.txt" stand for "txt.exe", and which a text need not end. The marks U+200E, U+200F and U+061C stay: they
 *     turn nothing around. Whoever shows a text beside others isolates it (<bdi>, U+2068 and U+2069);
 *   - byte order marks, and the frames of annotations (U+FFF9 to U+FFFB).
 *
 * These are left out. A line or paragraph separator (U+2028, U+2029) becomes a line feed, and so does a carriage return
 * with the line feed that follows it. U+FFFE and U+FFFF, which XML has not, become U+FFFD, as does each byte that is
 * not UTF-8. Nothing is escaped: < and & are text. The work grows with the length of the text.
 */
#include <glib.h>
#include <stddef.h>

/* Append the text made harmless, which has at most three times the bytes of text. */
void visible_append(GString *out, const char *text, size_t length);

/* Return the text made harmless and on one line, for a name or a subject: tabs and line feeds are blanks, several
 * blanks become one, and none are around it. A text of more than `most` bytes (4 or more) is cut between characters and
 * ends in "…". g_free() */
char *visible_line(const char *text, size_t most);
