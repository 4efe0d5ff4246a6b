/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The recipients of a post in blocks, one entry of out each, so that a big
 * list keeps every instance of out busy. The blocks of one post read one
 * cursor, one after the other, while the entries are written: no list of
 * members is ever in memory.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "posting/post.h"
#include "runners/copies.h"
#include "switchboard/draft.h"

typedef struct BlockPlan {
    unsigned blocks; /* 0: nobody to deliver to */
    int64_t size;    /* recipients in each but the last */
    unsigned instances;
    /* Each instance of out gets the recipients of its part of the domains, by SHA-1: where the mail of a domain is
     * delivered straight to it, one process knows all that is under way there. blocks is the number
     * for each instance then. */
    bool by_domain;
} BlockPlan;

/* As many blocks as there are instances of out, when each gets a full
 * transaction's worth; more only above recipients_per_entry. count is an upper bound.
 * transport: name, NULL or "" for the default one; single: each recipient has a
 * transaction of their own. */
BlockPlan blocks_plan(const Config *config, const char *transport, int64_t count, bool single);

/* A shard key that sends a block to an instance of its own: consecutive
 * blocks go to consecutive instances, beginning where hash says. g_free(). */
char *blocks_shard(const uint8_t *hash, unsigned block, unsigned instances);

/* The same for the instance that has the domain of address (a whole address, any case). */
unsigned blocks_instance(const char *address, unsigned instances);
/* A shard key that leads to instance. g_free(). */
char *blocks_shard_of(unsigned instance, unsigned instances);

typedef struct BlockStream BlockStream;

/* Take what it needs from post, and a reference to copies (NULL: the lines of
 * recipients are their addresses). Each attached draft holds the stream too. */
BlockStream *blocks_open(const Post *post, Copies *copies);
/* Only recipients whose domains are of this instance. */
void blocks_choose(BlockStream *stream, unsigned instance, unsigned instances);
/* Count the recipients whose domains are of this instance, by reading all; instances 0: of whatever domain. */
bool blocks_count(const Post *post, unsigned instance, unsigned instances, int64_t *count, GError **error);

void blocks_attach(BlockStream *stream, Draft *draft, int64_t size);
void blocks_close(BlockStream *stream);
