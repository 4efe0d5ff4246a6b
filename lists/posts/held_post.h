/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide about posts that are held for a moderator: by the moderator's word, by the sender's confirmation, or by age.
 * All changes and letters belong to the unit of work (lists/work.h), and take effect when it is committed.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/work.h"
#include "store/lists/list.h"
#include "store/posts/held.h"

typedef enum HeldVerdict {
    HELD_ACCEPT,  /* it goes to the list, through the queue pipeline, or waits for its time (scheduled_post.h) */
    HELD_ALLOW,   /* as HELD_ACCEPT, and later posts are not held because of this sender any more */
    HELD_REJECT,  /* it is removed, and its sender is told, with the reason */
    HELD_DISCARD, /* it is removed, and nobody is told */
    HELD_BAN,     /* as HELD_DISCARD, and its sender can neither post to the list nor join it any more */
    HELD_DEFER,   /* it goes on waiting; nothing is changed */
} HeldVerdict;

/* Carry out the verdict on the held post of this number. reason is for the sender, and may be NULL. *told: the sender
 * of a rejected post gets a letter; it is false when the post has no sender, or a program sent it (RFC 3834, 2). Where
 * the sender is no valid address, HELD_ALLOW is HELD_ACCEPT, and HELD_BAN is HELD_DISCARD. FAIL_MISSING: there is no
 * such held post. */
bool held_post_decide(Work *work, int64_t number, HeldVerdict verdict, const char *reason, bool *told, GError **error);

/* Accept the held post that waits for this token: held_ask_sender() (lists/letters/held_notice.h) has sent it to the
 * sender, who confirms the address by bringing it back. With list NULL the post may be of any list, else only of this
 * one. *list_id (g_free()) is the post's list; NULL, which is no error, if no such post waits for the token. */
bool held_post_confirm(Work *work, const List *list, const char *token, char **list_id, GError **error);

/* Send the post, whole and as it came, to an address whose owner is to look at it. The post goes on waiting. held was
 * read with its message, which letters to several addresses share. FAIL_NEVER: address is not a valid address. */
bool held_post_forward(Work *work, const Held *held, const char *address, GError **error);

/* Discard the list's posts that are held longer than its max_days_to_hold (0: none is), and posts whose senders did not
 * confirm their address in time. *discarded is their number. One call discards a few hundred; call it again while it
 * discards some. */
bool held_post_expire(Work *work, const List *list, int64_t *discarded, GError **error);
