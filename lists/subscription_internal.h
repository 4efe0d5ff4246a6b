/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* What the use cases of joining and leaving share. For this folder only. */
#include "lists/subscription.h"
#include "lists/work.h"

/* Takes the next step of a request that has these facts: asks the person, asks a moderator, or joins or leaves.
 * number of the request is 0 when it is not in the store yet. Fills *subscription. */
bool subscription_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error);

/* For join_ask() and leave_ask(): the facts in request are joined with those of a request that waits already, so that
 * asking again never goes back a step; a letter that was sent lately is not sent again. */
bool subscription_ask(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error);
