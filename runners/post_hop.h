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
#include "runners/list_posts.h"

/* Run the handlers and add the entries to outcome. The post has its number (post_id) by then. Reads the store and
 * writes nothing there. FAIL_NEVER: there is nobody to deliver it to, or no such
 * pipeline. */
bool post_hop(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error);

/* Add the entries for post->sends alone, where no handler runs. */
bool post_leave(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error);

/* Write into meta what the rules found: it goes with the post, whatever becomes of it. */
void post_hop_findings(json_t *meta, const Post *post);

/* Write the line of the log that tells what became of a post. */
void post_hop_log(Entry *entry, const Post *post, const Outcome *outcome, const char *result);
