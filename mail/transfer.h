/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decode and write the transfer encodings of MIME (RFC 2045, section 6): quoted-printable and base64. They are read
 * leniently. The Q and B encodings of header fields (RFC 2047) are the same but for the underscore. Nothing fails: what
 * is no encoding stands for itself.
 *
 * Give messages the line ends that SMTP and the entries of the spool have, CRLF. Files and people's texts mostly have
 * LF.
 */
#include <glib.h>
#include <stddef.h>

/* Take the next byte of quoted-printable text; *at is before end, and moves behind what was read. Return the byte, or
 * -1 for a soft line break, which stands for nothing. */
int transfer_take_quoted(const char **at, const char *end);

/* Append the bytes that an encoded text stands for. */
void transfer_decode_quoted(const char *text, size_t length, GString *out);
void transfer_decode_base64(const char *text, size_t length, GString *out);

/* Return the encoding in which the bytes of a part go through a server that takes 7 bits, and lines of BYTES_LINE bytes
 * (base/bytes.h): "quoted-printable", or "base64" where that is shorter or there is a NUL. NULL: they go as they
 * are. */
const char *transfer_needed(const char *bytes, size_t length);

/* Append bytes in one of the two encodings, with line_end where a line is broken. Line ends of the bytes themselves
 * stay in quoted-printable. */
void transfer_encode(GString *out, const char *encoding, const char *bytes, size_t length, const char *line_end);

/* Append bytes in quoted-printable behind *column characters of a line, which is counted on. A dot at the beginning of
 * a line, and a blank at the end of a line or of the bytes, are encoded. */
void transfer_encode_quoted(GString *out, size_t *column, const char *bytes, size_t length, const char *line_end);
#define TRANSFER_LINE 76 /* characters of a line at most */

/* Return a copy of the text in which every bare LF is CRLF, and which ends with a line end unless it is empty. Nothing
 * else is changed. g_bytes_unref() */
GBytes *wire_text(const char *text, size_t length);

/* Append a piece of a text to wire, changed as wire_text() does it; then call wire_end(). A CRLF may be cut between two
 * pieces. */
void wire_append(GByteArray *wire, const char *text, size_t length);
/* Return the whole text, with the line end that its last piece may lack. g_bytes_unref(); wire is consumed. */
GBytes *wire_end(GByteArray *wire);
