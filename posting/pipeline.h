/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Run an accepted post through a pipeline: a table of handlers, run in order. The order matters, since a handler may
 * need what an earlier one has left in the post. The archive gets the message as it is at the end.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/external.h"
#include "posting/handler.h"

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
