/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A person answers a letter of ours. */
#include "lists/subscription.h"
#include "lists/work.h"
#include "store/list.h"

/* The way by which a token came. */
typedef enum Consent {
    CONSENT_ANSWER, /* an answer to the letter, whatever it says: a program may have written it */
    CONSENT_SAID,   /* words to confirm, which nobody but a person writes */
} Consent;

/* The effect that a token would have. */
typedef enum ConfirmKind {
    CONFIRM_NOTHING,  /* it is not good: fate says why */
    CONFIRM_GUESSING, /* the source brought too many unknown tokens: nothing is said */
    CONFIRM_REQUEST,  /* do what request says: join, leave, change an address, set options */
    CONFIRM_POST,     /* send the held post of address, whose Subject is detail, to the list */
    CONFIRM_UNDO,     /* make address, which had left, a member again with all options */
} ConfirmKind;

typedef struct ConfirmView {
    ConfirmKind kind;
    PendingKind request; /* with CONFIRM_REQUEST */
    TokenFate fate;      /* with CONFIRM_NOTHING */
    char *list_id, *address;
    char *detail;       /* the new address, the options wished ("digest mime"), or a Subject; NULL: there is none */
    int64_t expires_at; /* 0: with CONFIRM_NOTHING and CONFIRM_GUESSING */
} ConfirmView;
void confirm_view_clear(ConfirmView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ConfirmView, confirm_view_clear)

/* Fill *view, which the caller clears, with what confirm_token() would do, and do nothing of it. An unknown token
 * counts as a guess, so the unit has to be committed. list as below. */
bool confirm_peek(Work *work, const List *list, const char *token, ConfirmView *view, GError **error);

/* Redeems a token. It proves that the address which it was sent to wants what was asked for that address, and nothing
 * about anybody else, whoever brings it. It is good once: afterwards the request is done, or waits for a moderator. The
 * token of a held post sends this post to the list (lists/held_post.h), and that of a letter to somebody who left makes
 * him a member again (lists/departure.h). list NULL: whichever it belongs to; else a token of another list is
 * BAD_TOKEN. A change of address concerns all lists, and nobody comes back because a program, or thanks, answered a
 * goodbye: an answer alone is NOT_SAID for these, and the token stays good. */
bool confirm_token(Work *work, const List *list, const char *token, Consent consent, Subscription *subscription,
                   GError **error);
