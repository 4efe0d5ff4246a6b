/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Asking to join a list. */
#include "lists/subscription.h"
#include "lists/work.h"
#include "store/list.h"
#include "store/member.h"

/* The person who is to become a member. */
typedef struct Joiner {
    const char *address;
    const char *name; /* for people; NULL: not known */
    unsigned facts;   /* of lists/workflow.h: what the caller knows for sure; 0 for a mail, whose From proves nothing;
                         FACT_APPROVED | FACT_INVITED for an invitation */
    bool wishes;      /* the caller says in the person's place that it wants this, which shows nothing of the address:
                         FACT_CONFIRMED where that is known to be the person's own, and no invitation */
    bool registers;   /* the person is known to the site from now on (people_register()), even while the request waits;
                         with FACT_VERIFIED and not FACT_VOUCHED, as the one whose address it is */
    bool names;       /* of people_register() */
    const Preferences *wants; /* delivery_mode and delivery_status count; NULL: as it comes */
    bool as_user;             /* by whatever address the user prefers, now and later; the address must be known */
    PendingWelcome welcome;
} Joiner;

/* Is the address one of ours, which may not become a member, or not be asked for by mail or a form? */
bool join_is_barred(const Work *work, const List *list, const char *address, bool *barred, GError **error);

/* Asks for the joiner to become a member of list, as subscription_policy says. That an address was confirmed earlier is
 * found out here. A banned address is refused. Nothing is registered for a request that is refused. */
bool join_ask(Work *work, const List *list, const Joiner *joiner, Subscription *subscription, GError **error);
