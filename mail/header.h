/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Text in header fields: RFC 2047 encoded words, both ways. Inside the program
 * text is UTF-8; what cannot be read becomes U+FFFD. All results are freed with
 * g_free().
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* The text of an unstructured value (Subject): unfolded, encoded words
 * decoded, blanks between two of them dropped; always valid UTF-8, without control
 * characters. Bytes over 127 outside encoded words are taken for UTF-8. */
char *header_decode(const char *value);

/* The same. Return true when *text says exactly what the value says: only then may it be encoded and written in the
 * value's place. */
bool header_decode_exactly(const char *value, char **text);

/* The same for a line that people read: the value as it came where its text would not say the same. (A value that is
 * not ASCII would not be UTF-8 either, and is decoded in any case.) */
char *header_show(const char *value);

/* The value for a text: as it is when it is printable ASCII (folded at
 * blanks) and no word of it is too long for a line, else as encoded words in UTF-8 of at most 75 characters. column is
 * where the value begins on its line. */
char *header_encode(const char *text, size_t column);

/* The same for the display name of an address or a List-Id: a quoted string
 * where that does, else encoded words. "" stays "". */
char *header_phrase(const char *text, size_t column);

/* A display name as it came, for one that header_decode_exactly() cannot read: folded at blanks, and a quoted string
 * where it is not made of atoms and encoded words. */
char *header_phrase_raw(const char *display, size_t column);
