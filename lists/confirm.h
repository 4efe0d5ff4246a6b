/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A person answers a letter of ours. */
#include "lists/subscription.h"
#include "lists/work.h"

/* The way by which a token came. */
typedef enum Consent {
    CONSENT_ANSWER, /* an answer to the letter, whatever it says: a program may have written it */
    CONSENT_SAID,   /* words to confirm, which nobody but a person writes */
} Consent;

/* Redeems a token. It proves that the address which it was sent to wants what was asked for that address, and nothing
 * about anybody else, whoever brings it. It is good once: afterwards the request is done, or waits for a moderator. The
 * token of a held post sends this post to the list (lists/held_post.h). list NULL: whichever it belongs to; else a
 * token of another list is BAD_TOKEN. A change of address concerns all lists, so an answer alone is NOT_SAID for it,
 * and the token stays good. */
bool confirm_token(Work *work, const List *list, const char *token, Consent consent, Subscription *subscription,
                   GError **error);

/* The purpose of a token, so that a page can say it before the button is pressed. */
typedef struct ConfirmView {
    PendingKind kind; /* of a request */
    bool is_post;     /* it sends a held post; kind says nothing */
    TokenFate fate;   /* where there is no list_id: why the token is not good */
    bool is_guessing; /* or who asks brought too many unknown ones (lists/guessing.h) */
    char *list_id;    /* NULL: the token is not good */
    char *address;    /* NULL with is_post */
    char *detail;     /* the new address, or the options; else NULL */
} ConfirmView;
void confirm_view_clear(ConfirmView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ConfirmView, confirm_view_clear)

/* Fill *view, which the caller clears, and change nothing, except that an unknown token is counted as a guess. */
bool confirm_peek(Work *work, const char *token, ConfirmView *view, GError **error);
