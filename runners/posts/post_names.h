/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Find the answers of the DNS that rules and handlers need to judge a post. Of mail to the owners the signatures alone
 * are checked, and only where their pipeline has the handler validate-authenticity. */
#include "posting/post.h"
#include "runners/runner.h"

/* Ask for the answers. True: the post may go on; post->names is set for posts to the list. False: an answer is missing,
 * and the entry was put off (runner_wait()); the caller must return without deciding about it. Other entries do not
 * wait. */
bool post_names_ready(Runner *runner, Entry *entry, Post *post, Outcome *outcome);
