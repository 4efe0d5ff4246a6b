/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make news articles (RFC 5536) of posts, and judge articles that might become posts. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mail/message.h"

/* The field that names the list which posted an article, so that this list does not take the article back. */
#define ARTICLE_MARK "X-News-Gateway"

/* How articles of one list are made; all is borrowed. */
typedef struct ArticleRules {
    const char *newsgroup, *list_id, *mail_host;
    const char *approved;      /* mailbox for Approved, in moderated groups; NULL: none */
    const char *const *remove; /* names of fields, besides those that would mean something to news servers */
    int64_t date;              /* us; for a post without Date */
} ArticleRules;

/* Make an article of a post, mended where news servers would refuse it:
 *   - Fields that servers write, or that order them to do something, are left out, and so are fields without text.
 *   - Of a field that may stand once, further ones are renamed X-Original-NAME.
 *   - Folded lines without text are joined, and long lines of fields are folded.
 *   - Text that is not UTF-8 is made UTF-8, control characters in fields become blanks, and NULs of the body go.
 *   - Subject, Date and Message-ID are supplied where they lack, Date also where it cannot be read or is in the future.
 * From stays the author's: a server refuses an article without it. *message_id (g_free()) is the article's Message-ID
 * without brackets. It is the post's, unless own_id is set or news does not allow it: then it is made from list and
 * post. */
GBytes *article_make(GBytes *post, const ArticleRules *rules, bool own_id, char **message_id);

/* Did this list post the article, or has it been on the list some other way? */
bool article_is_own(GBytes *article, const char *list_id);

/* Does the header of an article name this group in Newsgroups? */
bool article_is_in(GBytes *head, const char *newsgroup);
