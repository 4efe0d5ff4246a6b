/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A message on its way through DATA: dots at the start of lines doubled, line
 * ends CRLF, the last line ended, and the lone dot behind it; or through BDAT (RFC 3030): the
 * same without the dots. The octets are looked through once, when
 * the body is made; one that needs no change (nearly all) is passed to
 * each connection by reference, whole and uncopied. The others are rewritten
 * piece by piece as the connection takes them.
 *
 * A bare LF becomes CRLF. A dot after a bare CR is doubled too: some servers
 * take a bare CR for a line end, and no message may end where its sender did not end it.
 *
 * Copies that differ by recipient are made from one body that is cut where they do: what
 * stands between the cuts is looked through once and borrowed by every copy.
 *
 * A body is shared by reference count between connections of one thread.
 */
#include <event2/buffer.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct SmtpBody SmtpBody;

SmtpBody *smtp_body_new(GBytes *message); /* takes a new reference */
SmtpBody *smtp_body_ref(SmtpBody *body);
void smtp_body_unref(SmtpBody *body);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpBody, smtp_body_unref)

/* The same, with cuts at these offsets (ascending): the pattern of copies. */
SmtpBody *smtp_body_new_cut(GBytes *message, const size_t *cuts, size_t count);

/* What stands at a cut of one copy. */
typedef struct SmtpFill {
    const char *text; /* borrowed during the call */
    size_t length;
} SmtpFill;

/* A copy: fills has one for each cut of the pattern, which is referenced. */
SmtpBody *smtp_body_new_copy(SmtpBody *pattern, const SmtpFill *fills);

/* Its octets on the wire without what DATA adds: for SIZE= and BDAT. */
size_t smtp_body_wire_size(const SmtpBody *body);

/* True when there is an octet above 127 in it. */
bool smtp_body_8bit(const SmtpBody *body);

/* How far one connection has come; starts as {0} or {.chunk = true}. */
typedef struct SmtpBodyCursor {
    bool chunk; /* for BDAT: no dots doubled, no lone dot */
    size_t piece, offset;
    bool ended;
} SmtpBodyCursor;

/* Appends the next part of the body to out, about limit octets of a rewritten body or all of
 * an unchanged one; the last part brings what ends it and sets ended. */
void smtp_body_write(SmtpBody *body, SmtpBodyCursor *cursor, struct evbuffer *out, size_t limit);
