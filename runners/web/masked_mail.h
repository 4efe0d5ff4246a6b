/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write a mail anew for strangers: its text as pages show it, and no domain of an address. Members of the list
 * get the mail as it came.
 */
#include <glib.h>

#include "mail/text/readable.h"

/* Append a mail in RFC 5322 with LF line ends: From ("anne@masked.invalid"), Date, Subject, Message-ID and references,
 * and the text in UTF-8, with quotations marked by ">" and a line in the place of each file. */
void masked_mail(const Readable *mail, GString *out);

/* Return the bytes of a file of a mail as strangers may have them: those of a text without the domains of addresses, in
 * the character set that it has; those of any other file as they are. A text is declared as text, or as a message, or
 * as nothing of note, and is UTF-8, or UTF-16 with a byte order mark; or it is declared as text, and of one byte a
 * character. g_bytes_unref(). */
GBytes *masked_file(const ReadableFile *file);
