/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Asking to leave a list. Each leaving has a way, which the log tells. Where the person left alone, or a program may
 * have done it for the person (LEAVE_BY_MAIL to LEAVE_BY_COMPLAINT), one letter goes with a token that undoes it
 * (lists/departure.h); and where nobody answered a letter of ours, too many of one mail domain wait for a moderator
 * (lists/leave_brake.h).
 */
#include "lists/subscription.h"
#include "lists/work.h"
#include "store/list.h"

/* Kept in the store by number. */
typedef enum LeaveWay {
    LEAVE_BY_MAIL,      /* a mail to the list, be it to a signed address, or the answer to a letter of ours */
    LEAVE_BY_PAGE,      /* a button of a page */
    LEAVE_BY_ONE_CLICK, /* a POST of List-Unsubscribe (RFC 8058), which programs make, too */
    LEAVE_BY_COMPLAINT, /* the provider tells that the person called mail of the list spam */
    LEAVE_BY_REST,
    LEAVE_BY_SHELL,
    LEAVE_BY_BOUNCES,
} LeaveWay;
/* "mail", "page", "one-click", ... */
const char *leave_way_text(LeaveWay way);
/* The way of whoever comes in by this door. */
LeaveWay leave_way_of(ActorDoor door);
/* Does who left by this way get a letter with an undo? */
bool leave_way_undone(LeaveWay way);

/* Asks for address to leave list, as unsubscription_policy says; the way is that of the actor's door. facts as in
 * join_ask(); that an address of a member is the person's own is taken for granted, since a letter goes there in any
 * case. */
bool leave_ask(Work *work, const List *list, const char *address, unsigned facts, Subscription *subscription,
               GError **error);

/* The same for one of our signed addresses, list-leave+DETAIL: whoever writes to it had our mail, so the person is not
 * asked any further. BAD_TOKEN: we did not sign it, or too long ago. */
bool leave_signed(Work *work, const List *list, const char *detail, Subscription *subscription, GError **error);

/* The same for the token of a link, which names its list: LEAVE_BY_ONE_CLICK for the POST of RFC 8058, LEAVE_BY_PAGE
 * for a button behind the link. list NULL: whichever it is; else the token of another list is BAD_TOKEN. */
bool leave_token(Work *work, const List *list, const char *token, LeaveWay way, Subscription *subscription,
                 GError **error);

/* The address complained of mail that the list sent to it, which the caller has made sure of. It leaves whatever
 * unsubscription_policy says. NO_CHANGE: it is no member. */
bool leave_complained(Work *work, const List *list, const char *address, Subscription *subscription, GError **error);

/* The list and address of such a link, so that a page can say them before the button is pressed. */
typedef struct LeaveView {
    char *list_id, *address; /* NULL: we did not sign it, or too long ago, or the list is gone */
    bool is_member;          /* else there is nothing to leave */
    bool moderated;          /* a moderator of the list decides whether it may leave */
} LeaveView;
void leave_view_clear(LeaveView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LeaveView, leave_view_clear)

/* Fill *view, which the caller clears, and change nothing. list as above. */
bool leave_peek(const Work *work, const List *list, const char *token, LeaveView *view, GError **error);
