/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find links and addresses in plain text, so that a page can make links of them, and mask the addresses.
 *
 *   see https://example.com/a_(b). or write to <anne@example.org>.
 *       ----------------------- TEXT_LINK_WEB  ---------------- TEXT_LINK_ADDRESS
 *
 * A link begins with http://, https://, ftp:// or mailto:, in any case, and with nothing else: javascript: and data:
 * are text. It ends at a blank, a control character, or one of < > " ` { } | \ ^. It ends also at a character beyond
 * ASCII that is no letter, digit or mark, such as "」"; so names of hosts and paths in other scripts are whole (RFC
 * 3987). Punctuation behind it, and a bracket that it did not open, are not part of it, unless it stands in angle
 * brackets. The text of the span is the target; it holds nothing that is more than text between the quotes of an
 * attribute, once & is escaped.
 *
 * An address has letters, digits and other usual signs before an "@", and behind it a name with a dot. A Message-ID has
 * the same form, and counts as an address.
 *
 * Linear in the length of the text, which is valid UTF-8. Nothing fails.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum TextLinkKind { TEXT_LINK_WEB, TEXT_LINK_MAILTO, TEXT_LINK_ADDRESS } TextLinkKind;

typedef struct TextLink {
    size_t start, length; /* bytes */
    TextLinkKind kind;
    bool holds_address; /* there is an address in it, as it is or with %40: who masks addresses masks it */
} TextLink;

#define TEXT_LINK_MAX 2000 /* bytes; what is longer is text */

/* Append all links and addresses of text to links (of TextLink), in order; none lies within another. */
void text_link_find(const char *text, size_t length, GArray *links);

/* Return the text with "…" in place of the domain of each address, "anne@…", also of those in links. g_free() */
char *text_link_mask(const char *text, size_t length);
