/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell a part of a message (message/partial, RFC 2046, section 5.2.2) from other mail, read its parameters, and join
 * the parts of a message.
 *
 * Recognising is generous, so that nothing that any reader could take for a part passes as something else: comments,
 * any case, RFC 2231, several Content-Type fields. What is then not exactly as it must be has a fault and is never
 * joined.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mail/message.h"

#define PARTIAL_ID_MAX 998          /* bytes */
#define PARTIAL_NUMBER_MAX 999999999 /* of number and total, however many zeros stand before them */

typedef struct Partial {
    char *id;        /* quotes, comments and escapes removed; an opaque string */
    int64_t number;  /* from 1 */
    int64_t total;   /* 0: not said */
    char *author;    /* the first address of From, or NULL */
    char *fault;     /* not NULL: why it cannot be joined, a clause for people; the rest is unset then */
} Partial;

/* Return true when the message is a message/partial, also one with a fault. Then *partial is set, and the caller frees
 * it with partial_clear(). */
bool partial_read(const Message *message, Partial *partial);
void partial_clear(Partial *partial);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Partial, partial_clear)

/* Return the sender that goes into the key of the part's set: its author, or the envelope sender when it has none. The
 * text is borrowed. An envelope sender may be another for each part (VERP, BATV, SRS, none). */
const char *partial_sender(const Partial *partial, const char *envelope_sender);

/* Return the key that all parts of one message on one list share: 64 hex digits of the SHA-256 of the List-Id, the
 * sender from partial_sender() (its domain in lower case) and the id of the parts. g_free() */
#define PARTIAL_KEY_DIGITS 64
char *partial_set_key(const char *list_id, const char *sender, const char *id);

/* Return the SHA-256 of a part's body as 64 hex digits, by which a part that comes twice is known; g_free(). */
char *partial_digest(const Message *part);

/* Join the parts 1 .. count, whole messages in order of their numbers. The header is that of RFC 2046, 5.2.2.1: fields
 * of the first part but Content-*, Subject, Message-ID, Encrypted, MIME-Version; then exactly those of the enclosed
 * message. Fields of the first part that vouch for the part alone (DKIM-Signature, ARC-*, Authentication-Results,
 * Return-Path and their like) are left out. trace, not NULL, is the value of a Received field put above all. The result
 * is two pieces, head and body, of which the body is byte for byte what the parts enclose. No empty line is put between
 * them where the enclosed head ended without one (mail/message.h). */
GPtrArray *partial_join(GBytes *const *parts, size_t count, const char *trace); /* of GBytes */
