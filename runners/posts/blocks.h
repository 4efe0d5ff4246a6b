/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Divide the recipients of a post into blocks, each for one entry of out, so that a big list keeps every instance of
 * out busy. The blocks of one post read from one cursor of the store, one block after the other, while the entries are
 * written: so the members are never in memory all together.
 *
 * Make a plan, open a stream, attach a draft for each block, and close the stream. The cursor is opened when the first
 * draft is written. Write the drafts in the order in which they were attached: each takes the recipients that come
 * next. Where the store fails meanwhile, writing the draft fails.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "posting/post.h"
#include "runners/posts/copies.h"
#include "switchboard/draft.h"

typedef struct BlockPlan {
    unsigned blocks; /* 0: nobody to deliver to */
    int64_t size;    /* recipients in each block but the last */
    unsigned instances;
    /* Each instance of out gets the recipients of its part of the domains, by SHA-1: where the mail of a domain is
     * delivered straight to it, one process knows all that is under way there. blocks is the number
     * for each instance then. */
    bool by_domain;
} BlockPlan;

/* Plan the blocks for at most count recipients: as many blocks as there are instances of out, if each can fill a
 * transaction; more only when a block would have more than recipients_per_entry. transport: name, NULL or "" for the
 * default one. single: each recipient has a transaction of their own. */
BlockPlan blocks_plan(const Config *config, const char *transport, int64_t count, bool single);

/* Return a shard key (META_SHARD of switchboard/meta.h) for a block; g_free(). Consecutive blocks go to consecutive
 * instances of out, beginning at the one that the hash of the post's entry chooses. */
char *blocks_shard(const uint8_t *hash, unsigned block, unsigned instances);

/* Return the instance that has the domain of an address (a whole address, any case), for plans by_domain. */
unsigned blocks_instance(const char *address, unsigned instances);
/* Return a shard key that leads to this instance; g_free(). */
char *blocks_shard_of(unsigned instance, unsigned instances);

typedef struct BlockStream BlockStream;

/* Open a stream of a post's recipients. It copies what it needs from post and takes a reference to copies (NULL: the
 * lines of recipients are their addresses). The store stays borrowed. */
BlockStream *blocks_open(const Post *post, Copies *copies);
/* Restrict the stream to recipients whose domains are of this instance. */
void blocks_choose(BlockStream *stream, unsigned instance, unsigned instances);
/* Count the recipients whose domains are of each instance, by reading all once, into counts, which has room for
 * instances; 1: of whatever domain. False: the store failed. */
bool blocks_count(const Post *post, unsigned instances, int64_t *counts, GError **error);

/* Let the draft read its recipients, at most size of them, from the stream when it is written. The draft holds a
 * reference to the stream. */
void blocks_attach(BlockStream *stream, Draft *draft, int64_t size);
/* Give up the caller's reference to the stream, which is freed with the last draft. */
void blocks_close(BlockStream *stream);
