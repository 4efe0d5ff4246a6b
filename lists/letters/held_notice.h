/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell people of held posts: the author learns that the post waits, and each moderator gets a letter. A moderator's
 * letter has the start of the post and a ticket (store/posts/ticket.h): to answer it is to decide
 * (lists/posts/moderate.h).
 *
 * The first post that is held on a list is told at once. What is held within [site] held_notice_interval after that is
 * told by the timer in one letter, so that a flood of posts is no flood of letters.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/lists/list.h"
#include "store/posts/held.h"

/* Ask the sender in From, by a letter with a token, to confirm the address: the answer sends the post to the list
 * (lists/posts/held_post.h). Without an answer within [site] pending_request_life the post is discarded. Call it only
 * if letter_allowed() has allowed a letter. */
bool held_ask_sender(Work *work, const List *list, const Held *held, GError **error);

/* Tell the author, at the address to, that a post waits. Call it only if letter_allowed() has allowed a letter. */
bool held_tell_poster(Work *work, const List *list, const Held *held, const char *to, GError **error);

/* Tell the moderators of a post that was just held, or leave that to the timer's held_tell_gathered(). Call it in the
 * unit of work that holds the post; held has its number, and told as the store has it, so a call that is repeated after
 * a crash does the same. With admin_immed_notify off, no letter goes. */
bool held_tell_moderators(Work *work, const List *list, const Held *held, GError **error);

/* For the timer: tell the moderators, in one letter, of all posts that they have not been told of, if
 * held_notice_interval has passed since the last such letter. *posts is the number of posts that are now marked as
 * told; 0, with true, if there is none or it is too early. */
bool held_tell_gathered(Work *work, const List *list, int64_t *posts, GError **error);

/* Write the daily letter with all that waits for the list's moderators: held posts and requests. *waiting is their
 * number. */
bool held_remind(Work *work, const List *list, int64_t *waiting, GError **error);
