/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The outcome of a request to join, leave or change something. join_ask(), leave_ask(), change_address_ask(),
 * options_ask(), confirm_token() and request_decide() fill it in; the caller frees it with subscription_clear().
 */
#include <glib.h>
#include <stdbool.h>

#include "store/people/pending.h"

typedef enum SubscriptionResult {
    SUBSCRIPTION_DONE,            /* joined, left, changed or set */
    SUBSCRIPTION_ASKED_PERSON,    /* a letter with a token goes to the address */
    SUBSCRIPTION_PERSON_WAITS,    /* such a letter was sent within the last day: none goes now */
    SUBSCRIPTION_ASKED_MODERATOR, /* the request waits for a moderator from now on */
    SUBSCRIPTION_MODERATOR_WAITS, /* the request has waited for a moderator before */
    SUBSCRIPTION_NO_CHANGE,       /* the person is a member already, or is none: nothing to do */
    SUBSCRIPTION_LIMITED,         /* the address got too many letters today: nothing was done */
    SUBSCRIPTION_BAD_ADDRESS,     /* no address that could be a member */
    SUBSCRIPTION_OWN_ADDRESS,     /* the address is that of a list here, and may not join: nothing was done */
    SUBSCRIPTION_BANNED,          /* the address may not join: nothing was done */
    SUBSCRIPTION_BAD_TOKEN,       /* fate says why: nothing was done */
    SUBSCRIPTION_NOT_SAID,        /* the answer does not say that it confirms: nothing was done */
    SUBSCRIPTION_POSTED,          /* the token was that of a held post, which goes to the list */
    SUBSCRIPTION_RESTORED,        /* a person who had left is a member again, with all options (kind: PENDING_JOIN) */
    SUBSCRIPTION_REFUSED,         /* a moderator said no, or the operator alone may do it */
    SUBSCRIPTION_KEPT,            /* a moderator will decide later */
    SUBSCRIPTION_TAKEN,           /* the new address has an account of its own, as a letter says: nothing was done */
} SubscriptionResult;

/* The result, and the list and person that it is about. */
typedef struct Subscription {
    SubscriptionResult result;
    PendingKind kind;
    TokenFate fate;          /* with BAD_TOKEN */
    bool told;               /* with DONE: a letter about it goes to the person who left */
    int64_t request;         /* the request's number, where it waits for somebody */
    char *list_id, *address; /* NULL with BAD_TOKEN; no address with POSTED */
} Subscription;

void subscription_clear(Subscription *subscription);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Subscription, subscription_clear)

/* Return the word for a result in the log: "done", "asked-person", ... */
const char *subscription_result_text(SubscriptionResult result);
