/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write and read mailboxes that are one file (mbox). They are written in the mboxrd manner: LF line ends, a From_ line
 * before each mail, an empty line behind it, and one more '>' on each line that is "From " behind any number of '>':
 *
 *   From anne@example.org Fri Nov 20 13:20:00 2026
 *   Subject: frost
 *
 *   >From now on it is cold.
 *
 * The reader takes the mailboxes of all usual programs: mboxrd and mboxo, with LF or CRLF, of any size, with a byte
 * order mark or without. One mail is in memory at a time. A mail begins at a line of "From ", some text and a time, at
 * the start of the file or behind an empty line. There it also begins at a line of "From ", perhaps a sender, and a
 * date of another form or none, if a header field follows:
 *
 *   From - 8/27/2023
 *   Subject: frost
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Append a mail, whose lines end with LF, with its From_ line and the empty line behind. arrival is in microseconds
 * since 1970. The null sender "" is written as MAILER-DAEMON. */
void mbox_append(GString *text, const char *sender, int64_t arrival, const char *octets, size_t length);

/* The most bytes of a mail that are returned; of a longer one the rest is left out, and `cut` says so. */
#define MBOX_MAIL_MAX ((size_t)128 << 20)

typedef struct MboxReader MboxReader;

/* Make a reader of a stream, which stays the caller's and must outlive the reader. */
MboxReader *mbox_reader_new(FILE *stream);
void mbox_reader_free(MboxReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MboxReader, mbox_reader_free)

typedef struct MboxMail {
    GString *octets;   /* LF line ends, quoting taken off; the reader's, until the next call */
    int64_t from_time; /* of the From_ line, us since 1970; 0: it has none that can be read */
    bool cut;          /* it was longer than MBOX_MAIL_MAX */
    uint64_t offset;   /* in the file: where the next mail begins */
} MboxMail;

/* Read the next mail; *mail has octets NULL behind the last. FAIL_NEVER: the file is no mbox. FAIL_LATER: it cannot be
 * read. */
bool mbox_reader_next(MboxReader *reader, MboxMail *mail, GError **error);

/* Return how many lines so far began with "From ", were followed by a header field and were taken as text, so that a
 * mail which begins there is part of the mail before it. *lines, the reader's, becomes the numbers of the first ten:
 * "12, 340". */
uint64_t mbox_reader_doubts(const MboxReader *reader, const char **lines);
