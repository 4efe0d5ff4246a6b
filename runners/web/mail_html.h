/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make HTML of the text of a message (mail/text/readable.h). All that somebody wrote is escaped; the tags are ours: p,
 * blockquote and details for quotations, pre for fixed text, a for links. There is no style and no script in it.
 *
 * Write a mail anew for strangers, too: its text as pages show it, and no domain of an address. Members of the list get
 * the mail as it came.
 */
#include "mail/text/readable.h"
#include "runners/web/theme.h"

typedef struct MailHtml {
    const Theme *theme; /* NULL: words that are not of the mail are in English */
    const char *language;
    const char *files; /* path before the number and the name of an attachment: "/archive/LIST/HASH/file/" */
    bool masked;       /* addresses are shown as "anne@…", and there are no links to them */
} MailHtml;

/* Append to out the text of a mail, links to its attachments, and the messages within it. */
void mail_html(const MailHtml *how, const Readable *mail, GString *out);

/* Append text in one line as a page shows it, masked where *how says so. */
void mail_html_line(const MailHtml *how, const char *text, GString *out);

/* Return an array of the people in a field, as texts; json_decref(). */
json_t *mail_html_people(const MailHtml *how, const ReadablePeople *people);
/* Does To or Cc name anybody? */
bool mail_html_is_addressed(const ReadableHead *head);

/* Return a person as a page shows it: "Anne <anne@example.org>"; masked, the name alone, or "anne@…" for a person
 * without one; g_free(). */
char *mail_html_person(const MailHtml *how, const char *name, const char *address);

/* ---- for strangers ---- */

/* Append a mail in RFC 5322 with LF line ends: From ("anne@masked.invalid"), Date, Subject, Message-ID and references,
 * and the text in UTF-8, with quotations marked by ">" and a line in the place of each file. */
void mail_html_masked_mail(const Readable *mail, GString *out);

/* Return the bytes of a file of a mail as strangers may have them: those of a text without the domains of addresses, in
 * the character set that it has; those of any other file as they are. A text is declared as text, or as a message, or
 * as nothing of note, and is UTF-8, or UTF-16 with a byte order mark; or it is declared as text, and of one byte a
 * character. g_bytes_unref(). */
GBytes *mail_html_masked_file(const ReadableFile *file);
