/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Give messages the line ends that SMTP and the entries of the spool have, CRLF. Files and people's texts mostly have
 * LF. */
#include <glib.h>
#include <stddef.h>

/* Return a copy of the text in which every bare LF is CRLF, and which ends with a line end unless it is empty. Nothing
 * else is changed. g_bytes_unref() */
GBytes *wire_text(const char *text, size_t length);

/* Append a piece of a text to wire, changed as wire_text() does it; then call wire_end(). A CRLF may be cut between two
 * pieces. */
void wire_append(GByteArray *wire, const char *text, size_t length);
/* Return the whole text, with the line end that its last piece may lack. g_bytes_unref(); wire is consumed. */
GBytes *wire_end(GByteArray *wire);
