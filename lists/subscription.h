/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The outcome of a request to join, leave or change something. join_ask(), leave_ask(), change_address_ask(),
 * options_ask(), confirm_token() and request_decide() fill it in; the caller frees it with subscription_clear().
 */
#include <glib.h>
#include <stdbool.h>

#include "store/pending.h"

typedef enum SubscriptionResult {
    SUBSCRIPTION_DONE,            /* joined, left, changed or set */
    SUBSCRIPTION_ASKED_PERSON,    /* a letter with a token goes to the address */
    SUBSCRIPTION_PERSON_WAITS,    /* such a letter was sent within the last day: none goes now */
    SUBSCRIPTION_ASKED_MODERATOR, /* it waits for a moderator from now on */
    SUBSCRIPTION_MODERATOR_WAITS, /* it did so already */
    SUBSCRIPTION_NO_CHANGE,       /* is a member already, or is none: nothing to do */
    SUBSCRIPTION_LIMITED,         /* the address got too many letters today: nothing was done */
    SUBSCRIPTION_BAD_ADDRESS,     /* no address that could be a member */
    SUBSCRIPTION_OWN_ADDRESS,     /* one of ours (lists/own_address.h), which may not be this: nothing was done */
    SUBSCRIPTION_BANNED,          /* the address may not join: nothing was done */
    SUBSCRIPTION_BAD_TOKEN,       /* fate says why: nothing was done */
    SUBSCRIPTION_NOT_SAID,        /* an answer that does not say that it confirms: nothing was done */
    SUBSCRIPTION_GUESSING,        /* the source brought too many unknown tokens (lists/guessing.h): nothing was done */
    SUBSCRIPTION_POSTED,          /* the token was that of a held post, which goes to the list */
    SUBSCRIPTION_RESTORED,        /* who had left is a member again, with all options (kind is PENDING_JOIN) */
    SUBSCRIPTION_REFUSED,         /* a moderator said no, or the operator alone may do it */
    SUBSCRIPTION_KEPT,            /* a moderator will decide later */
} SubscriptionResult;

/* The result, and the list and person that it is about. */
typedef struct Subscription {
    SubscriptionResult result;
    PendingKind kind;
    TokenFate fate;          /* with BAD_TOKEN */
    bool told;               /* with DONE: a letter says so to the person who left */
    int64_t request;         /* its number where it waits for somebody */
    char *list_id, *address; /* NULL with BAD_TOKEN and GUESSING; no address with POSTED */
} Subscription;

void subscription_clear(Subscription *subscription);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Subscription, subscription_clear)

/* "done", "asked-person", ...: for the log. */
const char *subscription_result_text(SubscriptionResult result);
