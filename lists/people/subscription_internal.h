/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Share functions among the use cases of joining, leaving and changing. A request (Pending) waits for a person or a
 * moderator as a row of the store, or is new and has no row yet. All run in the transaction of the unit. */
#include "lists/letters/letter.h"
#include "lists/people/subscription.h"
#include "lists/work.h"

/* Decide what a request to join or leave needs next. The answer depends on the list's policy and on the facts that are
 * known about the request. Nothing else in the tree decides this. */
#define WORKFLOW_FACTS 8 /* the number of combinations of the first three */

typedef enum WorkflowStep {
    WORKFLOW_ASK_PERSON,    /* send the person a letter, and wait for the answer */
    WORKFLOW_ASK_MODERATOR, /* wait for a moderator */
    WORKFLOW_DO,            /* do what the request asks for */
} WorkflowStep;

/* Return the next step for these facts of WorkflowFact. FACT_INVITED without FACT_CONFIRMED asks the person under any
 * policy. FACT_BRAKED asks a moderator in place of WORKFLOW_DO, unless FACT_ANSWERED or FACT_APPROVED is known. */
WorkflowStep workflow_next(SubscriptionPolicy policy, unsigned facts);

/* The brake holds for a mail domain when, within the window, more than the share of a list's members there left, and at
 * least so many. */
#define LEAVE_BRAKE_LEAST 10
#define LEAVE_BRAKE_SHARE 20 /* one of so many */
#define LEAVE_BRAKE_WINDOW (600 * CLOCK_SECOND)

/* Take the next step of a request, by its facts: ask the person, ask a moderator, or do what is asked for.
 * request->number is 0 when it is not in the store yet. *subscription is filled in. False: the store failed. */
bool subscription_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error);

/* For join_ask() and leave_ask(): take the next step of a new request, as subscription_advance() does. If an equal
 * request waits already, its facts are added first, so that asking again never goes back a step. A letter that was sent
 * lately is not sent again. */
bool subscription_ask(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error);

/* A letter that asks a person to confirm, and brings the token for the answer. no_answer: it explains why nothing can
 * be confirmed, so it brings no token. */
typedef struct TokenLetter {
    const char *template;
    const Mailbox *to;
    const TemplateValue *values; /* at most 4 besides those of each such letter; the last has no name; NULL: none */
    bool no_answer;
} TokenLetter;

/* Make a token for the request and gather the letter with it; the request waits for the person from then on. Where the
 * address got too many letters today, nothing is done, and *result is SUBSCRIPTION_LIMITED. */
bool subscription_send_token(Work *work, const List *list, Pending *request, const TokenLetter *letter,
                             SubscriptionResult *result, GError **error);

/* A letter that asks the same is sent to one address and list only once in this time. */
#define SUBSCRIPTION_ASK_AGAIN (24 * 3600 * CLOCK_SECOND)

/* Note that the person answered the letter about the request, so that another letter may be sent. */
bool subscription_answered(Work *work, const List *list, const Pending *request, GError **error);

/* Gather a letter to the owners about what became of the request. name is the person's name, for one who is no member
 * any more; NULL: the member's own. */
bool subscription_tell_owners(Work *work, const List *list, const Pending *request, const char *template,
                              const char *name, GError **error);

/* Remove the request, which was answered, from the store if it is there; its token counts as used from then on. */
bool subscription_end(Work *work, const Pending *request, GError **error);
/* Fill in *subscription, whose result the caller has set, and write it to the log. */
void subscription_note(Work *work, const List *list, const Pending *request, Subscription *subscription);

/* For subscription_advance(): take the next step of a request to change an address (in change_address.c). */
bool change_address_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error);
/* For subscription_advance(): take the next step of a request to set options (in options.c). */
bool options_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error);
