/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Put the messages of an archive's index into threads, one message at a time, by the algorithm REFERENCES of RFC 5256.
 * For this folder only. For each message call archive_thread_place(), insert its row, and then archive_thread_settle().
 *
 * A node is a Message-ID that a message of the list has, or refers to. One without a message (a ghost) stands for a
 * message that comes later or never. Each node may claim one other as its parent:
 *
 *   a message    the last of its References that is not itself; without references it claims none, whatever others say
 *   a ghost      what stands before it in the References of a message that names it. Where messages disagree, the one
 *                with the least hash is believed
 *   a reply without references (its subject begins with "Re:" or the like)
 *                the last message before it with the same subject, within ARCHIVE_TOPIC_DAYS, that has no references
 *                either: one that is no reply, or else one that is. This is what is left here of the RFC's merging by
 *                subject, which would put all posts of twenty years that are called "question" into one thread
 *
 * Claims may go in a circle. Then the node with the least hash in it is the root of its thread, and its claim is cut.
 * So what is a thread, and what its tree is, depends on the messages alone and not on the order in which they come: one
 * that was missing joins threads, parts them, or mends a circle, as if it had been there from the beginning. When two
 * threads become one, the smaller one is renumbered.
 *
 * Only In-Reply-To with several ids is read by what is there already (ArchivePost.replied).
 *
 * At most ARCHIVE_REFERENCES_MAX references of a message count: the first and the last ones. A ghost is never shown.
 */
#include "store/archive/archive_index.h"
#include "store/store_internal.h"

#define ARCHIVE_TOPIC_DAYS 30

typedef struct ArchiveNode {
    int64_t id, list;
    int64_t message; /* 0: a ghost */
    int64_t claim;   /* the node that it claims as its parent; 0: none */
    int64_t thread;
    bool cut;                                                 /* the claim does not hold */
    char hash[ARCHIVE_HASH_SIZE], claimer[ARCHIVE_HASH_SIZE]; /* of a ghost's claim; "": none */
} ArchiveNode;

/* The state of adding messages to the threads of one list, within one transaction. */
typedef struct ArchiveThreading {
    Store *store;
    int64_t list;
    GArray *touched; /* int64_t, the threads that changed; NULL: none yet */
} ArchiveThreading;

void archive_threading_clear(ArchiveThreading *threading);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ArchiveThreading, archive_threading_clear)

/* The message to be placed. All is borrowed; fields are those of ArchivePost where nothing else is said. */
typedef struct ArchivePlacing {
    const char *hash;
    const char *const *references;
    const char *topic;
    bool reply;
    int64_t date;    /* seconds */
    int64_t message; /* its id */
} ArchivePlacing;

/* Give the message its node and its place in a thread. No message has this hash yet. The row of the message is inserted
 * by the caller, who then calls archive_thread_settle(). */
bool archive_thread_place(ArchiveThreading *threading, const ArchivePlacing *placing, ArchiveNode *node,
                          GError **error);

/* Bring the rows of the threads that changed up to date with their messages. */
bool archive_thread_settle(ArchiveThreading *threading, GError **error);
