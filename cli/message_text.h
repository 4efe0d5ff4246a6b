/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Messages as bytes, on their way between files and entries. */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Write to standard output: the header with the empty line that ends it, the
 * body, or both; byte for byte, save on a terminal, where it is made plain (cli/plain.h). */
void message_text_write(GBytes *message, bool header, bool body);

/* Walk an mbox: a message begins at a line "From SENDER DATE" at the start
 * of the file or after an empty line; ">From " lines lose one '>'. */
typedef struct Mbox {
    const char *at, *end;
} Mbox;

/* False at the end. message is as in wire_text() (mail/wire.h); sender (g_free()) is that of the
 * From line. */
bool mbox_next(Mbox *mbox, GBytes **message, char **sender);

/* Does the text begin like an mbox, and with many: more than one message of it? */
bool mbox_begins(const char *octets, size_t length, bool many);
