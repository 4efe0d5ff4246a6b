/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A moderator decides about a request to join or leave. */
#include "lists/subscription.h"
#include "lists/work.h"

typedef enum RequestVerdict {
    REQUEST_ACCEPT,
    REQUEST_REJECT,  /* the person is told, with the reason */
    REQUEST_DISCARD, /* nobody is told */
    REQUEST_BAN,     /* the same, and the address can neither join the list nor post to it any more */
    REQUEST_DEFER,   /* it waits on, for as long again */
    REQUEST_CONFIRM, /* the operator vouches that the person wants it; a moderator may have to decide still */
} RequestVerdict;

/* reason may be NULL. FAIL_MISSING: there is no such request. FAIL_NEVER: it waits for the person, not for a moderator
 * (who may only discard it or ban the address; an operator may confirm it). */
bool request_decide(Work *work, int64_t number, RequestVerdict verdict, const char *reason,
                    Subscription *subscription, GError **error);
