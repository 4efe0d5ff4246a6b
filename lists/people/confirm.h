/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Redeem a token that a letter of Listrunner brought to an address: it confirms a request or a held post, or undoes a
 * leaving. The functions return true also for a token that is not valid; false: the store failed.
 */
#include "lists/people/subscription.h"
#include "lists/work.h"
#include "store/lists/list.h"

/* The way by which a token came. */
typedef enum Consent {
    CONSENT_ANSWER, /* an answer to the letter, whatever its text: a program may have written it */
    CONSENT_SAID,   /* words to confirm, which nobody but a person writes */
} Consent;

/* The effect that a token would have. */
typedef enum ConfirmKind {
    CONFIRM_NOTHING, /* the token is not valid: fate says why */
    CONFIRM_REQUEST, /* do what request says: join, leave, change an address, set options */
    CONFIRM_POST,    /* send the held post of address, whose Subject is detail, to the list */
    CONFIRM_UNDO,    /* make address, which had left, a member again with all options */
} ConfirmKind;

typedef struct ConfirmView {
    ConfirmKind kind;
    PendingKind request; /* with CONFIRM_REQUEST */
    TokenFate fate;      /* with CONFIRM_NOTHING */
    char *list_id, *address;
    char *detail;       /* the new address, the options wished ("digest mime"), or a Subject; NULL: there is none */
    int64_t expires_at; /* 0: with CONFIRM_NOTHING */
} ConfirmView;
void confirm_view_clear(ConfirmView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ConfirmView, confirm_view_clear)

/* Fill *view, which the caller clears, with what confirm_token() would do, and do nothing of it. list as in
 * confirm_token(). */
bool confirm_peek(Work *work, const List *list, const char *token, ConfirmView *view, GError **error);

/* Redeem a token. Whoever brings it, it proves only that the address to which it was sent agrees to the request. It can
 * be redeemed once: afterwards the request is done, or waits for a moderator. The token of a held post sends the post
 * to the list (lists/posts/held_post.h). The token of a goodbye makes a person who left a member again, once, within
 * DEPARTURE_KEPT (store/people/departure.h).
 *
 * list NULL: the token may be of any list; else the token of another list is BAD_TOKEN. A change of address, and coming
 * back after a goodbye, need CONSENT_SAID. With CONSENT_ANSWER their result is NOT_SAID, and the token stays valid.
 * *subscription, which the caller clears, has the result. */
bool confirm_token(Work *work, const List *list, const char *token, Consent consent, Subscription *subscription,
                   GError **error);
