/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out which mail a page of an old archive shows. pipermail, MHonArc and Sympa write that into the page in these
 * forms. Pages may have any bytes.
 *
 *   MHonArc, Sympa   <!--X-Message-Id: 1&#45;2@example.org -->, <!--X-Subject: ... -->, <!--X-Date: ... -->
 *   pipermail        <A HREF="mailto:LIST?Subject=...&In-Reply-To=%3C1-2%40example.org%3E">, by which a reader answers,
 *                    and <H1>subject</H1> with <I>Mon Mar  4 12:34:56 UTC 2019</I> for a mail that had no Message-ID
 */
#include <glib.h>
#include <stddef.h>
#include <stdint.h>

#define OLD_PAGE_MAX ((size_t)256 << 10) /* bytes of a page that are looked at: all of this stands before the text */

typedef struct OldPage {
    char *message_id; /* without brackets; NULL: unknown */
    char *subject;    /* UTF-8; NULL: unknown */
    int64_t date; /* seconds since 1970; 0: unknown. In a zone that pipermail names by letters it may be a day off */
} OldPage;

void old_page_clear(OldPage *page);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OldPage, old_page_clear)

/* Read a page into *page, which the caller clears. It always succeeds: data that is not found stays unknown. */
void old_page_read(const char *octets, size_t length, OldPage *page);
