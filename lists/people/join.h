/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask that a person becomes a member of a list. The list's subscription_policy decides whether that is done at once, or
 * the person is asked by a letter, or a moderator decides.
 */
#include "lists/people/subscription.h"
#include "lists/work.h"
#include "store/lists/list.h"
#include "store/people/member.h"

/* The person who is to become a member. */
typedef struct Joiner {
    const char *address;
    const char *name; /* for people; NULL: not known */
    unsigned facts;   /* of workflow.h: what the caller knows for sure; 0 for a mail, whose From proves nothing;
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

/* Set *barred to whether the address belongs to this site itself, so that it may not become a member. By mail or a form
 * of a page more addresses of the site are barred than by the shell or REST. False: the store failed. */
bool join_is_barred(const Work *work, const List *list, const char *address, bool *barred, GError **error);

/* Ask that the joiner becomes a member of list. Whether the address was confirmed earlier is looked up here. True: the
 * request was worked, and *subscription, which the caller clears, says how it ended or what it waits for; a banned
 * address is refused in this way. Nothing is registered for a request that is refused. False: the store failed. */
bool join_ask(Work *work, const List *list, const Joiner *joiner, Subscription *subscription, GError **error);
