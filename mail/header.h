/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read and write the text of header fields, which may have RFC 2047 encoded words. Inside the program text is UTF-8;
 * what cannot be read becomes U+FFFD. All results are freed with g_free().
 *
 * Read the Received field that an MTA writes (RFC 5321 section 4.4). The name that the client gave itself stands in the
 * field, too, and must not be mistaken for what the MTA saw:
 *
 *     from liar.example (client.example.org [192.0.2.1]) by mx.example.com ...    Postfix, Sendmail
 *     from client.example.org ([192.0.2.1]:4711 helo=liar.example) by ...         Exim
 *     from [192.0.2.1] (helo=liar.example) by ...                                 Exim, a client without a name
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Return the text of an unstructured value (Subject): unfolded, with encoded words decoded and the blanks between two
 * of them dropped. It is always valid UTF-8, and each control character is a blank. Bytes over 127 outside encoded
 * words are taken for UTF-8. */
char *header_decode(const char *value);

/* Set *text as header_decode() returns it. Return true when nothing of the value was lost: only then may the text be
 * encoded again and written in the value's place. *text is set in any case. */
bool header_decode_exactly(const char *value, char **text);

/* Return the value for a line that people read: its text when decoding loses nothing, else the value as it came. A
 * value with bytes over 127 is decoded in any case, because it may not be UTF-8 as it came. */
char *header_show(const char *value);

/* Return the field value that stands for a text. Printable ASCII stays as it is, folded at blanks, unless a word of it
 * is too long for a line or it has "=?". Any other text becomes encoded words in UTF-8, each of at most 75 characters.
 * column is where the value begins on its line. */
char *header_encode(const char *text, size_t column);

/* Return the field value that stands for the display name of an address or a List-Id: a quoted string where that can
 * hold the text, else encoded words. "" stays "". */
char *header_phrase(const char *text, size_t column);

/* Return the field value for a display name that header_decode_exactly() cannot read: the name as it came, folded at
 * blanks, and as a quoted string where it is not made of atoms and encoded words. */
char *header_phrase_raw(const char *display, size_t column);

/* Return the IP address of the client, as the MTA saw it, from the value of a Received field; g_free(). NULL: the field
 * does not say it, or it is a loopback address. */
char *received_client(const char *value);
