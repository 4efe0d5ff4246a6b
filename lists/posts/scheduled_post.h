/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep posts that are to be sent at a later time (store/posts/scheduled.h), and send them when they are due. A post
 * waits only after the rules of the list, or a moderator, have let it pass. When it is due, one unit of work removes
 * its row and gathers an entry for the queue pipeline, so it goes once.
 *
 * All functions with a Work are called in the unit's transaction; letters and entries leave with its commit. After
 * false the caller rolls back. FAIL_MISSING, where a number is given: there is no such post.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "lists/work.h"
#include "store/lists/list.h"
#include "store/posts/held.h"
#include "store/posts/scheduled.h"

/* Store a post until it is due, and write that into the log of the list; post->number is set. */
bool scheduled_post_keep(Work *work, Scheduled *post, GError **error);

/* Write into the log of the list that a post whose time, post->due_at, is over goes at once. It is not stored, and has
 * the number 0. */
bool scheduled_post_note_over(Work *work, const Scheduled *post, GError **error);

/* Write to somebody that the post waits, and until when; with the number 0, that it goes at once, as above. */
bool scheduled_post_tell(Work *work, const List *list, const Scheduled *post, const char *to, GError **error);

/* Let a held post through to its list, at once or at the time that its metadata name (KEY_SEND_AT). If it waits, its
 * sender gets a letter with the time, unless mail of that kind gets no answers. meta is taken, also after false. The
 * caller removes the held post. */
bool scheduled_post_accept(Work *work, const Held *held, json_t *meta, GError **error);

/* Send the post at once, whatever its time. */
bool scheduled_post_send(Work *work, int64_t number, GError **error);

/* Give the post another time (us since 1970). A time that has come already sends it at once. */
bool scheduled_post_move(Work *work, int64_t number, int64_t due, GError **error);

/* Remove the post without sending it. Nobody is told, but the list's log gets a row. */
bool scheduled_post_drop(Work *work, int64_t number, GError **error);

/* For the timer: send a post that is due. It is held instead while its list is in emergency, and when its author does
 * not run the list any more. */
bool scheduled_post_due(Work *work, int64_t number, GError **error);

/* A post that is not sent so long (us) after it was due is a fault: scheduled_post_fault() says so. */
#define SCHEDULED_LATE (3 * 60 * CLOCK_SECOND)

/* Return a sentence that says why a post has not been sent, or cannot be; NULL: nothing is wrong. g_free() */
char *scheduled_post_fault(const Scheduled *post, int64_t now);

/* Write to the authors of the list's scheduled posts that these will not be sent. Call it in the transaction that
 * removes the list, before the list is removed. */
bool scheduled_post_list_goes(Work *work, const List *list, GError **error);
