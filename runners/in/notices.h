/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What the in runner tells people about a post that it does not hold (lists/held_notice.h): an entry for virgin, made
 * from the templates. A notice that cannot be made is told in the log and nothing else: the post itself must not wait
 * for it.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/post.h"
#include "runners/list_runner.h"
#include "switchboard/hop.h"

typedef struct Notices {
    Entry *entry;
    Post *post;
    ListRunner *runner;
    Outcome *outcome; /* gets the drafts */
} Notices;

/* To the envelope sender of a post that a rule rejects, with its header; the caller has asked post_may_answer(). Fails
 * only when the store does. */
bool notices_rejected(const Notices *notices, GError **error);
