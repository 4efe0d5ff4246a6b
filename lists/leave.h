/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Asking to leave a list. */
#include "lists/subscription.h"
#include "lists/work.h"

/* Asks for address to leave list, as unsubscription_policy says. facts as in join_ask(); that an address of a member is
 * the person's own is taken for granted, since a letter goes there in any case. */
bool leave_ask(Work *work, const List *list, const char *address, unsigned facts, Subscription *subscription,
               GError **error);

/* The same for one of our signed addresses, list-leave+DETAIL: whoever writes to it had our mail, so the person is not
 * asked any further. BAD_TOKEN: we did not sign it, or too long ago. */
bool leave_signed(Work *work, const List *list, const char *detail, Subscription *subscription, GError **error);

/* The same for the token of a link (RFC 8058), which names its list. list NULL: whichever it is; else the token of
 * another list is BAD_TOKEN. */
bool leave_token(Work *work, const List *list, const char *token, Subscription *subscription, GError **error);
