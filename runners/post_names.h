/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Find the answers of the DNS that rules and handlers need to judge a post. Of mail to the owners the signatures alone
 * are checked, and only where their pipeline has the handler validate-authenticity. */
#include "posting/post.h"
#include "runners/runner.h"

/* Find it out. True: the post may go on; post->names is set for posts to the list. False: the answer is not there, and
 * the entry waits for it (runner_wait()); nothing else may become of it now. Other entries do not wait. */
bool post_names_ready(Runner *runner, Entry *entry, Post *post, Outcome *outcome);
