/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What the in runner tells people about a post: entries for virgin, made from
 * the templates. A notice that cannot be made is told in the log and nothing
 * else: the post itself must not wait for it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "posting/post.h"
#include "runners/list_runner.h"
#include "switchboard/hop.h"

typedef struct Notices {
    Entry *entry;
    Post *post;
    ListRunner *runner;
    Outcome *outcome; /* gets the drafts */
} Notices;

/* All fail only when the store does. */

/* To the envelope sender; the caller has asked post_may_answer(). */
bool notices_held_poster(const Notices *notices, GError **error);
bool notices_rejected(const Notices *notices, GError **error);

/* To owners and moderators, the post attached, or the start of a long one. */
bool notices_held_moderators(const Notices *notices, int64_t number, GError **error);
