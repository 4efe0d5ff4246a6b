/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Take an accepted post through its handlers, which change it and say how it leaves (PostSend, posting/post.h), and
 * turn each of these ways into entries of the hop.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/post.h"
#include "runners/posts/list_posts.h"

/* Run the handlers and add the entries to outcome. The post must have its number (post_id) before. The store is only
 * read. FAIL_NEVER: there is nobody to deliver to, or the pipeline that the list chose is not configured. */
bool post_hop(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error);

/* Add the entries for post->sends to outcome without running handlers. */
bool post_leave(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error);

/* Write into meta what the rules found (KEY_HITS, KEY_MISSES, KEY_MEMBER). Do nothing if the post came through the
 * rules at an earlier hop: then its metadata has that. */
void post_hop_findings(json_t *meta, const Post *post);

/* Write the line of the log that tells what became of a post. */
void post_hop_log(Entry *entry, const Post *post, const Outcome *outcome, const char *result);
