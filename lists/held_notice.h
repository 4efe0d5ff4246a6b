/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell people of held posts: the author learns that the post waits, and each moderator gets a letter. A moderator's
 * letter has the start of the post and a ticket (store/ticket.h): to answer it is to decide (lists/moderate.h).
 *
 * The first post that is held on a list is told at once. What is held within [site] held_notice_interval after that is
 * told by the timer in one letter, so that a flood of posts is no flood of letters.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/held.h"

/* Asks the sender in From, by a letter with a token, to confirm the address: the answer sends the post to the list
 * (lists/held_post.h). Without an answer within [site] pending_request_life it is discarded. The caller has asked
 * letter_allowed(). */
bool held_ask_sender(Work *work, const List *list, const Held *held, GError **error);

/* Tells the author, at the address to, that a post waits. The caller has asked letter_allowed(). */
bool held_tell_poster(Work *work, const List *list, const Held *held, const char *to, GError **error);

/* For whoever just held a post (of this number; held->told as it is in the store): tells the moderators now, or
 * leaves it to the timer. */
bool held_tell_moderators(Work *work, const List *list, const Held *held, GError **error);

/* Tells the moderators of all posts that they were not told of, when the last such letter is old enough. *posts is how
 * many they were told of. */
bool held_tell_gathered(Work *work, const List *list, int64_t *posts, GError **error);

/* The daily letter with all that waits for the list's moderators: held posts and requests. *waiting is how much. */
bool held_remind(Work *work, const List *list, int64_t *waiting, GError **error);
