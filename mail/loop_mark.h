/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Stop mail loops. All mail that leaves this site bears a mark, by which the site knows the mail when it comes back.
 * The mark tells which places of the site (lists, owners, the site itself) the mail has passed, and how many one after
 * the other. It also tells which mail began the chain (the root).
 *
 *   Listrunner-Loop: 1.lBv4Qm0f...
 *
 * The value is sealed (base/secret.h) with a key made from the site's secret. So it tells a reader nothing: a copy of
 * an anonymous list does not say which mail it was made from. Nobody else can make a mark, and two marks of one mail
 * cannot be seen to be of one mail. The sealed text has, one a line:
 *
 *   2                              how many places it passed, one after the other
 *   8f0c...                        hash of the Message-ID with which it left
 *   p65c1a7b2... l65c1a7b2...      the places
 *   0                              how often a new mail was made of another one: a letter about it, a digest with it
 *   abc@example.org                the first mail of all, by its Message-ID as lists record it (the root)
 *   abc@example.org                what lists record it by (the origin)
 *
 * The mark bounds how many mails can come of one, because a list takes each origin once. A copy of a post keeps the
 * origin of the post, whatever its Message-ID, so each of N lists takes it once. A letter about the post, or a digest
 * with it, has an origin of its own, so that the owners of one list hear of the others; each list writes few of these,
 * and each list takes each of them once. Whatever is made of such a letter or digest in turn shares one origin, made
 * from the root. So the number of mails grows with the square of the number of lists, and not with the ways through
 * them.
 *
 * A field that this site did not make, or that was changed, is counted and has no further effect. Somebody may copy a
 * mark from one mail to another one. Its places are believed nevertheless, which may stop that mail. Lists take two
 * mails of one origin for the same mail; so root and origin are believed only on a mail with the Message-ID that the
 * mark left with.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/message.h"

#define LOOP_MARK_FIELD "Listrunner-Loop"

/* A mail that passed as many places is stopped. */
#define LOOP_DEPTH_MAX 10

typedef enum LoopPlace {
    LOOP_POSTING = 'p', /* it was posted to the list */
    LOOP_OWNER = 'o',   /* it was sent to the list's owners */
    LOOP_LETTER = 'l',  /* the list wrote it, or wrote it about such a mail */
    LOOP_SITE = 's',    /* it was sent to those who run the site; id is "" */
} LoopPlace;

typedef struct LoopKeys LoopKeys;

/* Make the keys from the site's secrets, an array of GBytes with the newest first (store/secret.h), at least one. Marks
 * are made with the newest key and read with any. */
LoopKeys *loop_keys_new(const GPtrArray *secrets);
void loop_keys_free(LoopKeys *keys);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LoopKeys, loop_keys_free)

/* Where a mail has been; all zero: nowhere. */
typedef struct LoopMark {
    unsigned depth;    /* how many places, one after the other; 0: no mark of ours was on it */
    GPtrArray *places; /* of char *; NULL: none */
    unsigned level;    /* how often a new mail was made */
    char *root;        /* NULL: not known */
    char *origin;      /* NULL: not known, and then it is the mail's own Message-ID */
    unsigned strange;  /* fields of that name that are not ours, or were changed */
} LoopMark;

void loop_mark_clear(LoopMark *mark);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LoopMark, loop_mark_clear)

/* Add to *mark, which is zero at first, the marks that a message bears. Call it for each message when a new mail is
 * made of several. depth and level become the greatest of all marks, and the root is that of the first mark with the
 * greatest level. Where no mark had a root so far, the message itself is the root. */
void loop_mark_read(const LoopKeys *keys, const Message *message, LoopMark *mark);

/* Turn *mark into the mark of a new mail, such as a letter or a digest, that was made of the messages read. The level
 * rises. At level 1 the new mail has an origin of its own, from level 2 on the common one made from the root. */
void loop_mark_derive(LoopMark *mark);

/* Return the Message-ID as lists record it: its hash where it is long or no text. NULL: there is none. g_free() */
char *loop_mark_key(const Message *message);

/* Has the mail been at a place of the list with this id (List.id)? */
bool loop_mark_has(const LoopMark *mark, LoopPlace place, const char *id);

/* Return the field's value for a mail that leaves the place `place` of the list `id`. message_id is that of the mail
 * as it leaves (NULL: none), and mark says where it had been before. origin is the name by which lists record the mail;
 * NULL: its own Message-ID. g_free() */
char *loop_mark_make(const LoopKeys *keys, const LoopMark *mark, LoopPlace place, const char *id,
                     const char *message_id, const char *origin);

/* Put a field with this value into the message in place of all fields of the name. Nothing changes when the message has
 * exactly that field already. */
void loop_mark_put(Message *message, const char *value);
