/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask that a person becomes a member of a list. The list's subscription_policy decides whether that is done at once, or
 * the person is asked by a letter, or a moderator decides.
 */
#include <jansson.h>

#include "lists/people/subscription.h"
#include "lists/work.h"
#include "store/lists/list.h"
#include "store/people/member.h"

/* The person who is to become a member. */
typedef struct Joiner {
    const Mailbox *address;
    const char *name; /* for people; NULL: not known */
    unsigned facts;   /* WorkflowFact: what the caller knows for sure; 0 for a mail, whose From proves nothing;
                         FACT_APPROVED | FACT_INVITED for an invitation */
    bool wishes;      /* the caller says that the person wants to join. It counts as FACT_CONFIRMED if the address is
                         known to be the person's own, unless this is an invitation */
    bool registers;   /* the person is known to the site from now on (people_register()), even while the request waits;
                         with FACT_VERIFIED and not FACT_VOUCHED, as the one whose address it is */
    bool names;       /* of people_register() */
    const Preferences *wants; /* delivery_mode and delivery_status count; NULL: as it comes */
    bool as_user;             /* by whatever address the user prefers, now and later; the address must be known */
    PendingWelcome welcome;
} Joiner;

/* Ask that the joiner becomes a member of list. Whether the address was confirmed earlier is looked up here. True: the
 * request was worked, and *subscription, which the caller clears, says how it ended or what it waits for; a banned
 * address is refused in this way. Nothing is registered for a request that is refused. False: the store failed. */
bool join_ask(Work *work, const List *list, const Joiner *joiner, Subscription *subscription, GError **error);

/* ---- the form of a page (page_form.h) ---- */

/* For the page: leave an entry for the form in the unit of work; joiner has an address, and maybe a name. The answer of
 * the page does not show whether the address is a member or is banned: the page only counts the form. *result is
 * ASKED_PERSON when an entry was left, BAD_ADDRESS or OWN_ADDRESS, which depend on the address and on the names of
 * lists alone, or LIMITED when too many forms came today (letter_form_allowed()). Commit the unit also then. */
bool join_form_take(Work *work, const List *list, const Joiner *joiner, SubscriptionResult *result, GError **error);

/* For the runner: carry out an entry of join_form_take() (KEY_TO is TO_JOIN) by join_ask(). meta is the entry's
 * metadata. */
bool join_form_work(Work *work, const List *list, const json_t *meta, GError **error);
