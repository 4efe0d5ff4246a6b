/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write a message in the form that DATA wants: every line ends with CRLF, dots at the start of lines are doubled, and a
 * lone dot follows the last line. For BDAT (RFC 3030) the dots are left out. The bytes are examined once, when the body
 * is made. A message that needs no change, as nearly all do, is passed to each connection by reference. The others are
 * rewritten piece by piece, as the connection takes them.
 *
 * A bare LF becomes CRLF. A dot after a bare CR is doubled too, because some servers take a bare CR for a line end.
 * Else a message could end before its sender ended it.
 *
 * Copies that differ between recipients are made from one body that is cut where they differ. The pieces between the
 * cuts are examined once and borrowed by every copy.
 *
 * A body is shared by reference count between connections of one thread.
 */
#include <event2/buffer.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct SmtpBody SmtpBody;

SmtpBody *smtp_body_new(GBytes *message); /* a new reference to message is taken */
SmtpBody *smtp_body_ref(SmtpBody *body);
void smtp_body_unref(SmtpBody *body);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpBody, smtp_body_unref)

/* Make a body with cuts at these offsets, which ascend: the pattern of copies. */
SmtpBody *smtp_body_new_cut(GBytes *message, const size_t *cuts, size_t count);

/* The text that one copy has at a cut. */
typedef struct SmtpFill {
    const char *text; /* borrowed during the call */
    size_t length;
} SmtpFill;

/* Make a copy. fills has one text for each cut of the pattern. A reference to the pattern is taken. */
SmtpBody *smtp_body_new_copy(SmtpBody *pattern, const SmtpFill *fills);

/* Return how many bytes the body has on the wire, without the dots that DATA adds: for SIZE= and BDAT. */
size_t smtp_body_wire_size(const SmtpBody *body);

/* Return true when the body contains a byte above 127. */
bool smtp_body_8bit(const SmtpBody *body);

/* The place in the body up to which one connection has taken it. Begin with {0} or {.chunk = true}. */
typedef struct SmtpBodyCursor {
    bool chunk; /* for BDAT: no dot is doubled, and no lone dot follows */
    size_t piece, offset;
    bool ended;
} SmtpBodyCursor;

/* Append the next part of the body to out: about limit bytes of a body that is rewritten, or all of one that is not.
 * After the last part, which includes the end of the message, cursor->ended is true. */
void smtp_body_write(SmtpBody *body, SmtpBodyCursor *cursor, struct evbuffer *out, size_t limit);
