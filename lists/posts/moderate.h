/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Let a moderator decide about held posts and requests, by an answer to the letter about them
 * (lists/letters/moderator_letter.h), or on a page.
 *
 * The Subject, or a line of the answer's own text, is a decision when it is one of these words. The word stands alone,
 * or with the numbers of posts, or with "all":
 *
 *   accept              it goes to the list, or the request is granted ("approve" is the same)
 *   allow               as accept, and its sender's posts need no moderator any more; for posts alone
 *   reject off topic    its sender is told, with what follows the word, and the lines after it, as the reason
 *   discard 12 r4       nobody is told; an r before a number is for requests; 12-15 is all that wait from 12 to 15
 *   ban all             as discard, and its sender can neither post nor join any more
 *   defer               it waits on
 *
 * A word without number is about the one thing of the letter, and in a letter about requests alone the r may be left
 * out. Prose that begins with such a word is no decision, save behind "reject". Of a line with a number too
 * long, or a range that goes back, nothing is done; the answer to the moderator names it.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/text.h"
#include "lists/posts/held_post.h"
#include "lists/work.h"
#include "store/posts/held.h"
#include "store/posts/ticket.h"

typedef struct Decision {
    HeldVerdict verdict;
    bool all;                   /* "all" stood in place of numbers */
    GArray *numbers, *requests; /* of NumberRange: posts, requests; both empty: the one thing of the letter */
    char *reason;    /* NULL: none */
    char *mistake;   /* a wrong word in place of a number, such as "15-12": nothing is decided; NULL: none */
    char *line;      /* the line as it was written */
} Decision;

/* Return the decisions in a mail, in order: an array of Decision, freed with it, of at most DECISIONS_MAX. */
#define DECISIONS_MAX 50
GPtrArray *moderate_read(GBytes *message);

/* The standing of whoever brings the token of a letter to a moderator. */
typedef enum ModerateAccess {
    MODERATE_MAY,          /* the ticket is valid, and the person whom it names is a moderator of the list */
    MODERATE_UNKNOWN,      /* the token is that of no ticket, or the list is gone */
    MODERATE_NO_MODERATOR, /* the person whom the ticket names is no moderator of the list any more */
} ModerateAccess;

/* For a page: find the ticket of a token. A ticket (store/posts/ticket.h) says which posts and requests of a list a
 * moderator may decide about. *ticket (ticket_free()) is NULL but for MODERATE_MAY. False: the store failed. */
bool moderate_ticket(Work *work, const char *token, Ticket **ticket, ModerateAccess *access, GError **error);

/* Make a ticket for all that waits on a list, for somebody who may decide there, which the caller has checked
 * (lists/people/standing.h). Both strings are borrowed, so do not free the ticket. */
Ticket moderate_anything(const char *list_id, const char *address);

/* Fill *waiting with the posts (Held without their messages) and the requests (Pending) of a ticket that still wait for
 * a moderator. Each array is in the order of numbers and has at most MODERATE_SHOWN. Only numbers greater than those of
 * `after` are listed, so that a caller goes on behind the last ones shown. Clear *waiting also after false, which means
 * that the store failed. */
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

/* Read the post of this number with its message; held_free(). *held is NULL if the ticket is not for the post, or the
 * post does not wait for a moderator. False: the store failed. */
bool moderate_post(Work *work, const Ticket *ticket, int64_t number, Held **held, GError **error);

#define MODERATE_REASON_MAX 4000 /* bytes; a longer reason is cut */

typedef enum ModerateOutcome {
    MODERATE_DONE,
    MODERATE_GONE,   /* nothing of the ticket waits under the number */
    MODERATE_UNDONE, /* nothing was decided: the word is none for such a thing, or the log says why */
} ModerateOutcome;

/* For a page: decide, as the moderator of the ticket, about the post or the request of this number by a word as above.
 * reason may be NULL. Call it between work_begin() and the commit of the unit. A decision that fails is undone alone:
 * *outcome is MODERATE_UNDONE and true is returned. False only with FAIL_LATER. */
typedef struct ModerateOne {
    bool is_request;
    int64_t number;
    const char *word, *reason;
} ModerateOne;
bool moderate_one(Work *work, const Ticket *ticket, const ModerateOne *one, ModerateOutcome *outcome, GError **error);

/* For an answer by mail: carry out the decisions of the mail that brought this token. Then gather a letter to the
 * moderator that says what became of each. *known is false when no ticket for this list has the token: then nothing was
 * done. False: a decision or the store failed, so roll the unit back. */
bool moderate_reply(Work *work, const List *list, const char *token, GBytes *message, bool *known, GError **error);
