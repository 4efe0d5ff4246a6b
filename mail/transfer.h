/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decode and write the transfer encodings of MIME (RFC 2045, section 6): quoted-printable and base64. They are read
 * leniently. The Q and B encodings of header fields (RFC 2047) are the same but for the underscore. Nothing fails: what
 * is no encoding stands for itself.
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

/* Append bytes in quoted-printable behind *column characters of a line, which is counted on. A dot at the beginning of a
 * line, and a blank at the end of a line or of the bytes, are encoded. */
void transfer_encode_quoted(GString *out, size_t *column, const char *bytes, size_t length, const char *line_end);
#define TRANSFER_LINE 76 /* characters of a line at most */
