/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Carry out that a member leaves, and undo it. Only files of lists/ call this: subscription_advance() for a request of
 * lists/people/leave.h, and confirm_token() for the token that departure_carry_out() mails.
 *
 * A member who left by a way of leave_way_undone() gets one letter: the list's goodbye, or a short one where the list
 * sends none. Its token restores the membership with every option. It works once, within DEPARTURE_KEPT
 * (store/people/departure.h).
 */
#include "lists/people/confirm.h"
#include "lists/people/subscription.h"
#include "lists/work.h"

/* Remove the member whom the request to leave is about, write the letter, and leave the event for programs outside.
 * Where the way can be undone (leave_way_undone()), record the departure. Else make the token of an earlier departure
 * good no more. *left: there was such a member. *told: a letter tells the person, which subscription_may_write() can
 * forbid. False: the store failed. */
bool departure_carry_out(Work *work, const List *list, const Pending *request, bool *left, bool *told, GError **error);

/* Undo the departure that has the token, if nothing hinders it, and set *subscription, which the caller clears:
 * RESTORED (kind is PENDING_JOIN), NOT_SAID where the answer does not say "confirm", NO_CHANGE for one who is a member
 * again, BANNED, OWN_ADDRESS. BAD_TOKEN: no departure from this list has the token, and the caller finds out
 * why; if list is NULL, none from any list. False: the store failed. */
bool departure_confirm(Work *work, const List *list, const char *token, Consent consent, Subscription *subscription,
                       GError **error);
