/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask that an address leaves a list. The list's unsubscription_policy decides whether it leaves at once, or a letter or
 * a moderator is asked first. The functions return true when the request was worked, and *subscription, which the
 * caller clears, has its result (lists/people/subscription.h): also that the address is no member, or a token is not
 * valid. They return false when the store failed.
 *
 * The way by which a member left stands in the log. After LEAVE_BY_MAIL to LEAVE_BY_COMPLAINT, which a program may have
 * done in the person's place, the person gets one letter with a token that undoes the leaving
 * (lists/people/confirm.h). If too many members of one mail domain leave without having answered a letter, the next
 * ones wait for a moderator (the brake in subscription.c).
 */
#include "lists/people/hashed.h"
#include "lists/people/subscription.h"
#include "lists/work.h"
#include "store/lists/list.h"

/* Ask that address leaves list; the way is that of the actor's door. facts are those of lists/people/subscription.h
 * that the caller knows for sure; FACT_VERIFIED is added here, since a member's address counts as the person's own. */
bool leave_ask(Work *work, const List *list, const Mailbox *address, unsigned facts, Subscription *subscription,
               GError **error);

/* Ask that the member leaves to whom a signed address list-leave+DETAIL was given; detail is the part behind the
 * delimiter. A writer to such an address had mail of the list, so the person is not asked to confirm. hashed
 * (lists/people/hashed.h) is kept from call to call. BAD_TOKEN: this site did not sign the address, or too long ago. */
bool leave_signed(Work *work, const List *list, Hashed *hashed, const char *detail, Subscription *subscription,
                  GError **error);

/* Ask that the member leaves whom the token of a link names, without a letter to confirm; the token names the list,
 * too. way is LEAVE_BY_ONE_CLICK for the POST of RFC 8058, LEAVE_BY_PAGE for a button behind the link. BAD_TOKEN: no
 * list of this site made the token, or too long ago. */
bool leave_token(Work *work, const char *token, LeaveWay way, Subscription *subscription, GError **error);

/* Have an address leave since it complained of mail that the list sent to it. The caller has made sure of the
 * complaint. The address leaves whatever unsubscription_policy says. NO_CHANGE: it is no member. */
bool leave_complained(Work *work, const List *list, const Mailbox *address, Subscription *subscription, GError **error);

/* The list and address that a link's token names, for a page that shows them before the button is pressed. */
typedef struct LeaveView {
    char *list_id, *address; /* NULL: we did not sign it, or too long ago, or the list is gone */
    bool is_member;          /* else there is nothing to leave */
    bool moderated;          /* a moderator of the list decides whether it may leave */
} LeaveView;
void leave_view_clear(LeaveView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LeaveView, leave_view_clear)

/* Fill *view, which the caller clears, for the token of a link, and change nothing. A token that is not valid
 * leaves list_id and address NULL, which is no error. */
bool leave_peek(const Work *work, const char *token, LeaveView *view, GError **error);
