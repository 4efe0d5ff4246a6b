/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Run an accepted post through a pipeline: a table of handlers, run in order. The order matters, since a handler may
 * need what an earlier one has left in the post. The archive gets the message as it is at the end.
 *
 * A handler is one step of a pipeline, through which an accepted post runs. It edits the message, chooses recipients,
 * adds a way on which the post leaves (post_send()), or ends the post (Post.end). It changes the Post and nothing else.
 * Each handler has a function and a const struct in a file of handlers/, by its subject, and a line in words.h.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/external.h"
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

typedef struct Pipeline {
    const char *name;
    const Handler *const *handlers; /* ended by NULL */
    const External *const *programs; /* beside `handlers`: at each handler_external its program; NULL: each runs all
                                        programs of [handlers] external */
} Pipeline;

extern const Pipeline pipeline_posting, pipeline_owner, pipeline_digest, pipeline_virgin;

/* Find a built-in pipeline by its name; NULL: there is none. */
const Pipeline *pipeline_find(const char *name);

/* Run the handlers in order, up to one that ends the post (post->end). Afterwards post->sends are the ways on which the
 * post leaves, which the caller turns into entries. The sends of a post that was ended are replaced by what that end
 * needs, such as a letter to the author. False: a handler failed, and the post is not to be used any more. */
bool pipeline_run(const Pipeline *pipeline, Post *post, GError **error);
