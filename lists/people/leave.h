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
 * ones wait for a moderator (lists/people/leave_brake.h).
 */
#include "lists/people/hashed.h"
#include "lists/people/subscription.h"
#include "lists/work.h"
#include "store/lists/list.h"

/* The way by which a member left. The store keeps its number, so numbers must not change. */
typedef enum LeaveWay {
    LEAVE_BY_MAIL,      /* a mail to the list, be it to a signed address, or the answer to a letter of ours */
    LEAVE_BY_PAGE,      /* a button of a page */
    LEAVE_BY_ONE_CLICK, /* a POST of List-Unsubscribe (RFC 8058), which programs make, too */
    LEAVE_BY_COMPLAINT, /* the provider tells that the person called mail of the list spam */
    LEAVE_BY_REST,
    LEAVE_BY_SHELL,
    LEAVE_BY_BOUNCES,
} LeaveWay;
/* Return the word for the way, static: "mail", "page", "one-click", ... */
const char *leave_way_text(LeaveWay way);
/* Return the way of an actor who comes in by this door. */
LeaveWay leave_way_of(ActorDoor door);
/* Does a member who left by this way get a letter with a token that undoes it? */
bool leave_way_undone(LeaveWay way);

/* Ask that address leaves list; the way is that of the actor's door. facts are those of lists/people/workflow.h that
 * the caller knows for sure; FACT_VERIFIED is added here, since a member's address counts as the person's own. */
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
