/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A moderator decides about a held post. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/work.h"
#include "store/list.h"

typedef enum HeldVerdict {
    HELD_ACCEPT,  /* it goes to the list, through the queue pipeline, or waits for its time (lists/scheduled_post.h) */
    HELD_ALLOW,   /* the same, and its sender's posts are not held for who sent them any more */
    HELD_REJECT,  /* its sender is told, with the reason */
    HELD_DISCARD, /* nobody is told */
    HELD_BAN,     /* the same, and its sender can neither post to the list nor join it any more */
    HELD_DEFER,   /* it waits on */
} HeldVerdict;

/* reason may be NULL. *told: the sender of a rejected post gets a letter; not when it has no sender, or a program sent
 * it (RFC 3834, 2). FAIL_MISSING: there is no such held post. */
bool held_post_decide(Work *work, int64_t number, HeldVerdict verdict, const char *reason, bool *told, GError **error);

/* The sender brings back the token of lists/held_notice.h: that post goes to the list. *list_id (g_free()) is NULL
 * where no post waits for the token, or none of this list; list NULL: whichever it belongs to. */
bool held_post_confirm(Work *work, const List *list, const char *token, char **list_id, GError **error);

/* Sends the post, whole and as it came, to somebody who is to look at it; it waits on. FAIL_MISSING as above;
 * FAIL_NEVER: address is none. */
bool held_post_forward(Work *work, int64_t number, const char *address, GError **error);

/* Discards the list's posts that are held longer than its max_days_to_hold, and those whose senders were asked to
 * confirm the address and did not; *discarded is how many. A few hundred at a
 * time: call it again while it discards some. */
bool held_post_expire(Work *work, const List *list, int64_t *discarded, GError **error);
