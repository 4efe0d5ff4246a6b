/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Messages as they are on the wire: entries hold CRLF line ends, files and texts of people mostly LF. */
#include <glib.h>
#include <stddef.h>

/* The message with CRLF for every line feed that has no carriage return, and at the end; nothing else is changed. */
GBytes *wire_text(const char *text, size_t length);

/* The same in pieces: append text (a line feed that is alone in it belongs to what was appended before), and end. */
void wire_append(GByteArray *wire, const char *text, size_t length);
GBytes *wire_end(GByteArray *wire); /* consumes wire */
