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
