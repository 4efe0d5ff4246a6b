/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Write a message to standard output, and read the messages of an mbox file. */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Write the header of the message with the empty line that ends it, its body, or both. The bytes are written as they
 * are, but on a terminal they are made plain (cli/plain.h). */
void message_text_write(GBytes *message, bool header, bool body);

/* The part of an mbox that is still to be read; set both pointers to the text, which stays the caller's. A message
 * begins at a line "From SENDER DATE" at the start or after an empty line; ">From " and ">>From " lose one '>'. */
typedef struct Mbox {
    const char *at, *end;
} Mbox;

/* Read the next message; g_bytes_unref(). It is as in wire_text() (mail/transfer.h); *sender (g_free()) is that of the
 * From line. False: the end was reached, and nothing is set. */
bool mbox_next(Mbox *mbox, GBytes **message, char **sender);

/* Return whether the text begins as an mbox does; with `many`, also whether it has more than one message. */
bool mbox_begins(const char *octets, size_t length, bool many);
