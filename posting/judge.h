/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide about a post before its handlers run. The chain that its list has chosen decides first. Then the accounts of
 * the rules and the room for held posts may change the verdict. The runner in and trials (lists/trial/trial.h) call
 * this. An account is what a rule such as burst has stored about earlier posts.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/post.h"

/* Tell the store which questions judge_run() will most likely ask about the post, so that it may answer them in one
 * round trip (store_soon_forget() in store/store.h tells the rules). The caller has set the first part of the Post, but
 * for its list. */
void judge_soon(Post *post, const char *list_id);

/* Run the post through the chain that its list has for posts, or for mail to the owners (Post.for_owners). If the
 * configuration has no such chain, the post is held. The store is only read. */
bool judge_run(Post *post, Verdict *verdict, GError **error);

/* Enter an accepted or held post into the accounts of the rules (rules_settle()). Call it after judge_run(), in the
 * transaction that stores what becomes of the post. It may change the verdict: an accepted post may become held. A
 * held post is rejected where it is too large or there is no room for it. A rejected post is not entered, so it may
 * come again. *stranger is set for a held post: true when none of its senders is a member. */
bool judge_enter(Post *post, Verdict *verdict, bool *stranger, GError **error);
