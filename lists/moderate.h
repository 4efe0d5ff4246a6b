/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A moderator decides about held posts and requests by answering the letter about them (lists/moderator_letter.h).
 *
 * The Subject, or a line of the answer's own text, is a decision when it is one of these words alone, or with the
 * numbers of posts, or with "all":
 *
 *   accept              it goes to the list, or the request is granted ("approve" is the same)
 *   allow               the same, and its sender's posts need no moderator any more; for posts alone
 *   reject off topic    its sender is told, with what follows the word, and the lines after it, as the reason
 *   discard 12 r4       nobody is told; an r before a number is for requests; 12-15 is all that wait from 12 to 15
 *   ban all             the same, and its sender can neither post nor join any more
 *   defer               it waits on
 *
 * A word without number is about the one thing of the letter, and in a letter about requests alone the r may be left
 * out. Prose that begins with such a word is no decision, save behind "reject". Of a line with a number too
 * long, or a range that goes back, nothing is done; the answer to the moderator names it.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/number_range.h"
#include "lists/held_post.h"
#include "lists/work.h"
#include "store/held.h"
#include "store/ticket.h"

typedef struct Decision {
    HeldVerdict verdict;
    bool all;
    GArray *numbers, *requests; /* of NumberRange: posts, and those with an r; none: the one thing of the letter */
    char *reason;    /* NULL: none */
    char *mistake;   /* what stands in place of a number, as "15-12": nothing is decided; NULL: none */
    char *line;      /* as it was written */
} Decision;

/* Reads an answer: of Decision, in order, freed with the array. At most DECISIONS_MAX. */
#define DECISIONS_MAX 50
GPtrArray *moderate_read(GBytes *message);

/* The standing of whoever brings the token of a letter to a moderator. */
typedef enum ModerateAccess {
    MODERATE_MAY,          /* the moderator, whom the ticket names */
    MODERATE_UNKNOWN,      /* the token is that of no ticket */
    MODERATE_GUESSING,     /* it does not count from there (lists/guessing.h) */
    MODERATE_NO_MODERATOR, /* whom the ticket names is no moderator of the list any more */
} ModerateAccess;

/* Find the ticket (store/ticket.h) of a token; free with ticket_free(). *ticket is NULL but for MODERATE_MAY. An
 * unknown token counts as a guess. */
bool moderate_ticket(Work *work, const char *token, Ticket **ticket, ModerateAccess *access, GError **error);

/* A ticket for all that waits on a list, for somebody of whom it is known that he may decide there
 * (lists/standing.h). Both strings are borrowed. */
Ticket moderate_anything(const char *list_id, const char *address);

/* The things that wait of those which a ticket is about: posts of Held without their messages, and requests of Pending,
 * in order, at most MODERATE_SHOWN of each, with numbers greater than those of after. */
#define MODERATE_SHOWN 100
typedef struct ModerateAfter {
    int64_t post, request;
} ModerateAfter;
typedef struct ModerateWaiting {
    GPtrArray *posts, *requests;
    bool more; /* there are more than these */
} ModerateWaiting;
void moderate_waiting_clear(ModerateWaiting *waiting);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ModerateWaiting, moderate_waiting_clear)
bool moderate_waiting(Work *work, const Ticket *ticket, ModerateAfter after, ModerateWaiting *waiting, GError **error);

/* The post of this number, whole, where the ticket is for it and it waits for a moderator; else *held is NULL.
 * held_free(). */
bool moderate_post(Work *work, const Ticket *ticket, int64_t number, Held **held, GError **error);

#define MODERATE_REASON_MAX 4000 /* bytes; a longer reason is cut */

typedef enum ModerateOutcome {
    MODERATE_DONE,
    MODERATE_GONE,   /* nothing of the ticket waits under the number */
    MODERATE_UNDONE, /* it cannot be done: there is no such word for it, or the log says why; it waits on */
} ModerateOutcome;

/* Decide, as the moderator of the ticket, about the post or the request of this number by a word as above, in a
 * transaction of which one failure undoes nothing else. reason may be NULL. FAIL_LATER alone is an error. */
typedef struct ModerateOne {
    bool is_request;
    int64_t number;
    const char *word, *reason;
} ModerateOne;
bool moderate_one(Work *work, const Ticket *ticket, const ModerateOne *one, ModerateOutcome *outcome, GError **error);

/* Does what an answer with this token says, and writes to the moderator what became of it. *known is false when the
 * token is that of no ticket for this list: then nothing was done. */
bool moderate_reply(Work *work, const List *list, const char *token, GBytes *message, bool *known, GError **error);
