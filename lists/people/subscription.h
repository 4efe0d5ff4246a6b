/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Requests to join, leave or change something: the facts that callers bring, the ways out, and the outcome. join_ask(),
 * leave_ask(), change_address_ask(), options_ask(), confirm_token() and request_decide() fill in a Subscription; the
 * caller frees it with subscription_clear().
 *
 * Too many departures from one mail domain at once, which programs may have caused, wait for a moderator (FACT_BRAKED).
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/people/pending.h"

/* The facts that are known about a request; they are combined with |. */
typedef enum WorkflowFact {
    FACT_VERIFIED = 1,    /* the address is the person's own: it was confirmed once */
    FACT_CONFIRMED = 2,   /* the person wants this, now */
    FACT_APPROVED = 4,    /* somebody who may has consented */
    FACT_INVITED = 8,     /* somebody who may asked the person, who has to answer in any case */
    FACT_EVERY_ROLE = 16, /* an operator asked for a change of address, so ownership moves along */
    FACT_VOUCHED = 32,    /* who has the list says so in the person's place: for this request, and for no other list */
    FACT_WORDED = 64,     /* a list or domain worded the letter that asks: its answer counts for this request alone */
    FACT_ANSWERED = 128,  /* the person answered a letter of ours about this request, or pressed its button */
    FACT_BRAKED = 256,    /* too many left at once, so a moderator decides, whatever the policy says */
} WorkflowFact;

/* The way by which a member left. The store keeps its number, so numbers must not change. */
typedef enum LeaveWay {
    LEAVE_BY_MAIL,      /* a mail to the list, be it to a signed address, or the answer to a letter of ours */
    LEAVE_BY_PAGE,      /* a button of a page */
    LEAVE_BY_ONE_CLICK, /* a POST of List-Unsubscribe (RFC 8058), which programs make, too */
    LEAVE_BY_COMPLAINT, /* the provider tells that the person called mail of the list spam */
    LEAVE_BY_REST,
    LEAVE_BY_SHELL,
    LEAVE_BY_BOUNCES,
} LeaveWay;
/* Return the word for the way, static: "mail", "page", "one-click", ... */
const char *leave_way_text(LeaveWay way);
/* Return the way of an actor who comes in by this door. */
LeaveWay leave_way_of(ActorDoor door);

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
