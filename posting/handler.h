/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Describe a handler: one step of a pipeline, through which an accepted post runs (pipeline.h). A handler edits the
 * message, chooses recipients, adds a way on which the post leaves (post_send()), or ends the post (Post.end). It
 * changes the Post and nothing else. Each handler has a file in handlers/, a const struct there, and a line in words.h.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/post.h"
#include "posting/words.h"

typedef struct Handler {
    const char *name;
    /* False: the handler failed, with *error set. To end the post is no failure. */
    bool (*process)(Post *post, GError **error);
} Handler;

#define DECLARE_HANDLER(symbol, word) extern const Handler handler_##symbol;
POSTING_HANDLERS(DECLARE_HANDLER)
#undef DECLARE_HANDLER

/* All handlers, ordered by name and ended by NULL. */
extern const Handler *const handlers[];
/* Find a handler by its name; NULL: there is none. */
const Handler *handler_find(const char *name);
