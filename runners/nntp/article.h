/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Posts as news articles (RFC 5536), and articles as posts. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mail/message.h"

/* Names the list that posted an article: this list does not take it back. */
#define ARTICLE_MARK "X-News-Gateway"

/* All borrowed. */
typedef struct ArticleRules {
    const char *newsgroup, *list_id, *mail_host;
    const char *approved;      /* mailbox for Approved, in moderated groups; NULL: none */
    const char *const *remove; /* names of fields, besides those that would mean something to news servers */
    int64_t date;              /* us; for a post without Date */
} ArticleRules;

/* Make an article of a post, mended where news servers would refuse it: fields that are theirs to write, or that order
 * them to do something, are left out; of fields that may stand once, further ones are called X-Original-NAME; fields
 * without text go, and folded lines without text are joined; what is not UTF-8 is made so, control characters in fields
 * become blanks, NULs of the body go, and long lines of fields are folded; Subject, Date and Message-ID are supplied,
 * also for a Date that nobody can read or that lies in the future. From is the author's: without one the server refuses
 * the article. *message_id (g_free()) is its Message-ID without brackets: the post's, or with own_id, and where that is
 * none for news, one that follows from list and post. */
GBytes *article_make(GBytes *post, const ArticleRules *rules, bool own_id, char **message_id);

/* Did this list post the article, or has it been on the list some other way? */
bool article_is_own(GBytes *article, const char *list_id);

/* Does the header of an article name this group in Newsgroups? */
bool article_is_in(GBytes *head, const char *newsgroup);
