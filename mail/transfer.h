/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decode the transfer encodings of MIME (RFC 2045, section 6), read leniently: quoted-printable and base64. The Q and B
 * encodings of header fields (RFC 2047) are the same but for the underscore. Nothing fails: what is no encoding stands
 * for itself.
 */
#include <glib.h>
#include <stddef.h>

/* Take the next byte of quoted-printable text; *at is before end, and moves behind what was read. Return the byte, or
 * -1 for a soft line break, which stands for nothing. */
int transfer_take_quoted(const char **at, const char *end);

/* Append the bytes that an encoded text stands for. */
void transfer_decode_quoted(const char *text, size_t length, GString *out);
void transfer_decode_base64(const char *text, size_t length, GString *out);

/* Append a byte as "=3D". */
void transfer_encode_byte(GString *out, unsigned char byte);
