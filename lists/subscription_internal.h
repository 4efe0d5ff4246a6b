/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declarations that the use cases of joining, leaving and changing share. For this folder only. */
#include "lists/letter.h"
#include "lists/subscription.h"
#include "lists/work.h"

/* Take the next step of a request, by its facts (lists/workflow.h): ask the person, ask a moderator, or do what is
 * asked for. request->number is 0 when it is not in the store yet. *subscription is filled in. False: the store failed.
 * */
bool subscription_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error);

/* For join_ask() and leave_ask(): the facts in request are joined with those of a request that waits already, so that
 * asking again never goes back a step; a letter that was sent lately is not sent again. */
bool subscription_ask(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error);

/* A letter with a token. */
typedef struct TokenLetter {
    const char *template, *to;
    const TemplateValue *values; /* at most 4 besides those of each such letter; the last has no name; NULL: none */
} TokenLetter;

/* Makes a token for the request and sends it; the request waits for the person then. Does nothing where the address got
 * too many letters today. */
bool subscription_send_token(Work *work, const List *list, Pending *request, const TokenLetter *letter,
                             SubscriptionResult *result, GError **error);

/* A letter of this kind to one address and list goes once in this time. */
#define SUBSCRIPTION_ASK_AGAIN (24 * 3600 * CLOCK_SECOND)

/* Note that the person answered the letter about the request, so that another letter may be sent. */
bool subscription_answered(Work *work, const List *list, const Pending *request, GError **error);

/* May the person be written to about what was done? Who confirmed it by mail or on a page always; anybody else once a
 * day for each list and kind of letter, since others may have asked in that name again and again: by a mail, or by a
 * program that vouches for people over REST or in the shell. */
bool subscription_may_write(Work *work, const List *list, const Pending *request, const char *kind, bool *may,
                            GError **error);

/* Tells the owners what became of the request. name: of one who is no member any more; NULL: the member's. */
bool subscription_tell_owners(Work *work, const List *list, const Pending *request, const char *template,
                              const char *name, GError **error);

/* Remove the request, which was answered, from the store if it is there; its token counts as used from then on. */
bool subscription_end(Work *work, const Pending *request, GError **error);
/* Fill in *subscription, whose result the caller has set, and write it to the log. */
void subscription_note(Work *work, const List *list, const Pending *request, Subscription *subscription);

/* change_address.c, options.c: what subscription_advance() does for such a request. */
bool change_address_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error);
bool options_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error);
