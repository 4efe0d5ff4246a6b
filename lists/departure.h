/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A member leaves, and comes back when that is undone. For this folder: leave_ask() and its kin lead here by
 * subscription_advance(), and confirm_token() does by the token that departure_carry_out() mails.
 *
 * Who left by a way that the person or a program may have chosen (leave_way_undone()) gets one letter: the list's
 * goodbye, or where it sends none a short one. Its token restores the membership with every option, once, for
 * DEPARTURE_KEPT (store/departure.h).
 */
#include "lists/confirm.h"
#include "lists/subscription.h"
#include "lists/work.h"

/* Removes the member whom the request to leave is about, records the departure, writes the letter and tells programs
 * outside. *left: there was such a member. *told: a letter to the person says so. */
bool departure_carry_out(Work *work, const List *list, const Pending *request, bool *left, bool *told, GError **error);

/* Undoes the departure that has the token: RESTORED (kind is PENDING_JOIN), NOT_SAID where the answer does not say
 * "confirm", NO_CHANGE for one who is a member again, BANNED, OWN_ADDRESS, GUESSING. BAD_TOKEN: there is none, or none
 * of this list (NULL: of any); the caller finds out why. */
bool departure_confirm(Work *work, const List *list, const char *token, Consent consent, Subscription *subscription,
                       GError **error);
