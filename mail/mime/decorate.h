/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Put text of the list before and behind a message (Mailman's header and footer).
 *
 * Header and footer are joined to the text of a message that is one plain text, not in base64 and not an attachment.
 * Its charset must have their characters. Where that text is ASCII alone, its fields call it UTF-8 if the list's text
 * needs that; where only the names of some readers do, the fields of their copies alone. A last line that would go on
 * in the footer (a soft line break, a flowed line) gets a line end. A multipart/mixed gets header and footer as its
 * first and last part. Every other message, signed mail too, becomes the middle part of a new multipart/mixed; so does
 * a message that readers may understand differently, for example with two Content-Type fields. No byte of the sender's
 * body is changed in any of these. The message's fields that tell of the content move with it. Those that count or sum
 * up the body as it was (Content-Length, Lines, Content-MD5) go unless they stay true.
 */
#include <glib.h>

#include "mail/copy.h"
#include "mail/message.h"

typedef struct Decoration {
    const char *header, *footer; /* UTF-8, lines end with LF; NULL or "": none. May hold marks (mail/copy.h) */
    const char *secret;          /* of the marks; NULL: there are none */
} Decoration;

/* The decorated message in pieces, in order. Marks stand only in pieces that are not of the sender's body;
 * decorated_is_own() tells which those are. */
typedef struct Decorated {
    GPtrArray *pieces; /* of GBytes */
    GBytes *body;      /* the sender's bytes; pieces that are slices of it hold no marks */
} Decorated;

/* Put header and footer around a message. The fields of message may be edited; its body is not. result is set, and
 * decorated_clear() frees it. */
void decorate(Message *message, const Decoration *decoration, Decorated *result);
void decorated_clear(Decorated *decorated);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Decorated, decorated_clear)

/* Return a MIME part, with its header, that shows the text (UTF-8) where the part stands; g_free(). */
char *decorate_text_part(const char *text);

/* Is the piece a part of the sender's body? */
bool decorated_is_own(const Decorated *decorated, GBytes *piece);
