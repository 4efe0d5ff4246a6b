/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Decide about a request to join or leave, for a moderator, an owner or the operator. */
#include "lists/people/subscription.h"
#include "lists/work.h"

typedef enum RequestVerdict {
    REQUEST_ACCEPT,
    REQUEST_REJECT,  /* the person is told, with the reason */
    REQUEST_DISCARD, /* nobody is told */
    REQUEST_BAN,     /* nobody is told, and the address can neither join the list nor post to it any more */
    REQUEST_DEFER,   /* the request waits on, for moderator_request_life from now */
    REQUEST_CONFIRM, /* the actor vouches that the person wants it; a moderator may have to decide still. For a request
                        that waits for a moderator it is REQUEST_ACCEPT */
} RequestVerdict;

/* Decide about the request of this number, as the actor of the unit; whether the actor may is for the caller to check.
 * *subscription is filled; subscription_clear(). reason is for REQUEST_REJECT and may be NULL. FAIL_MISSING: there is
 * no such request. FAIL_NEVER: the request waits for the person, not for a moderator. A request that waits for the
 * person can nevertheless be discarded or banned; an operator may confirm it, and an owner may if it is to join or to
 * leave. */
bool request_decide(Work *work, int64_t number, RequestVerdict verdict, const char *reason,
                    Subscription *subscription, GError **error);
