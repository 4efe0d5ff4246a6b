/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep mail from going round between the lists of this site. Each mail that leaves a list bears a mark in its header,
 * which names the lists that it has passed (mail/loop_mark.h). A post that has passed the same list before, or
 * LOOP_DEPTH_MAX lists, is discarded before any chain runs. No setting, chain or pipeline of the site changes that.
 *
 * The runner calls loop_set() when it makes the Post; the chains call loop_stops(), and pipeline_run() the rest. A post
 * without loop_set() is never stopped and gets no mark.
 */
#include "mail/loop_mark.h"
#include "posting/post.h"

typedef struct PostLoop PostLoop;

/* Put into the post the mark with which it came. The contents of *mark are taken, and *mark is emptied. keys sign the
 * marks of the mails that the post becomes; they are borrowed for the life of the post. */
void loop_set(Post *post, const LoopKeys *keys, LoopMark *mark);

/* Free what loop_set() made, which is not NULL; post_clear() does it. */
void loop_free(PostLoop *loop);

/* Return whether the post has passed this list before, or too many lists. If so, add a hit of the rule "loop" and a
 * reason to the post, which the caller then discards. */
bool loop_stops(Post *post);

/* Return the key by which the post's list recognises a mail that it has had; g_free(). It is the Message-ID of the
 * first mail that the post was made from, else the post's own; or the hash of that, where it is long or no text. NULL:
 * there is no Message-ID. */
char *loop_message_key(const Post *post);

/* Note the Message-ID of the first mail that the post was made from. Call it before any handler changes the post. */
void loop_begin(Post *post);

/* Put the mark into the post's message and into the messages that its sends have of their own. Call it after each
 * handler. Digests and letters that we wrote (Post.ours) are left alone: they were marked when they were written. */
void loop_mark_all(Post *post);
