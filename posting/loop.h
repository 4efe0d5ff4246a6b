/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Bounds the ways of a mail through the lists of this site (mail/loop_mark.h). A post that has been at the same
 * list, or at LOOP_DEPTH_MAX places, is discarded before any chain, and what leaves bears the mark whatever the
 * handlers do: no setting, chain or pipeline of the site changes that.
 */
#include "mail/loop_mark.h"
#include "posting/post.h"

typedef struct PostLoop PostLoop;

/* Say where the post has been: mark is taken. keys are borrowed, and make the marks of what leaves. */
void loop_set(Post *post, const LoopKeys *keys, LoopMark *mark);
void loop_free(PostLoop *loop);

/* Has the post been here before, or at too many places? Adds the hit (rule "loop") and the reason. */
bool loop_stops(Post *post);

/* Return the Message-ID under which the post's list records it: that of the first mail that it was made from, else
 * its own; its hash where it is long or no text. NULL: it has none. g_free() */
char *loop_message_key(const Post *post);

/* Remember where the post comes from, before any handler changes it. */
void loop_begin(Post *post);

/* See to it that the post, and what was made of it for single ways, bears the mark. After each handler. */
void loop_mark_all(Post *post);
