/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write an issue of a digest: several posts in one message, in one of two forms.
 *
 *   MIME     multipart/mixed of masthead, contents, a multipart/digest with each post byte for byte, and footer
 *   plain    RFC 1153: one text in UTF-8; of each post the fields that RFC names and its text
 *
 * The issue is written to a stream, so that no more than one post is in memory. All posts are announced first, for the
 * table of contents and the encoding, and then added, both in the same order:
 *
 *   writer = issue_writer_new(&issue, ISSUE_MIME, stream);
 *   issue_announce(writer, post) ...
 *   issue_add(writer, post) ...
 *   issue_end(writer);
 *
 * Lines end with CRLF, but for those of posts that came without. Our own lines, and those of the plain form, have no
 * more than 998 bytes. Nothing fails but the stream: look at ferror() and fclose(). A post may be any bytes.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum IssueForm { ISSUE_MIME, ISSUE_PLAIN } IssueForm;

/* Texts are UTF-8 with LF; all is borrowed until issue_writer_free(). */
typedef struct Issue {
    const char *subject;
    const char *title;      /* "Test Digest, Vol 1, Issue 3" */
    const char *from, *to;  /* mailboxes; replies go to `to` */
    const char *id;         /* Message-ID without brackets */
    int64_t date;
    const char *mark;       /* value of mail/loop_mark.h; NULL: none */
    const char *masthead, *footer; /* NULL or "": none */
    const char *contents;          /* title of the table of contents: "Today's Topics" */
    const char *footer_title;      /* "Digest Footer" */
    const char *end;               /* "End of", before the title */
    const char *left_out;          /* a sentence with $type, $name and $size for what the plain form cannot show */
    const char *prefix; /* the pattern of the list's subjects: left out in the table of contents; NULL: none */
    const char *secret;            /* letters and digits that no post has, for boundaries: random_word() */
} Issue;

typedef struct IssueWriter IssueWriter;

/* Make a writer of the issue on a stream, which stays the caller's; issue_writer_free(). */
IssueWriter *issue_writer_new(const Issue *issue, IssueForm form, FILE *stream);
void issue_writer_free(IssueWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(IssueWriter, issue_writer_free)

/* Announce every post, then add the same posts in the same order, then end the message. A post is not kept. */
void issue_announce(IssueWriter *writer, GBytes *post);
void issue_add(IssueWriter *writer, GBytes *post);
void issue_end(IssueWriter *writer);

/* May the message have bytes over 127? Call it when all posts were announced. The plain form always gives true. */
bool issue_is_8bit(const IssueWriter *writer);
