/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the entries of in, pipeline and virgin as posts (posting/post.h), with the settings of rules, handlers,
 * archivers and signatures. Put list_posts_start() and list_posts_stop() into the RunnerSpec as they are;
 * runner_data() is a ListRunner. A runner that handles no posts does not link this file, and so loads no library for
 * MIME or DKIM.
 *
 * in and pipeline work without a transaction: begin_batch is list_runner_refresh(), and handle() only reads the store
 * and keeps a ListRunnerPost. end_batch writes what all kept posts leave in the store, in one short transaction
 * (list_runner_settle()). finish() makes the entries. So instances do not wait for each other.
 */
#include "posting/chain.h"
#include "posting/post.h"
#include "runners/posts/list_runner.h"

/* Start as list_runner_start() does, with the same failures, and read the settings of posts. */
bool list_posts_start(Runner *runner, GError **error);
void list_posts_stop(Runner *runner);

/* An entry read as a post, and what the runner in keeps about it from handle() to finish(). */
typedef struct ListRunnerPost {
    Post post;
    Message *message;
    Entry *entry;     /* borrowed */
    Outcome *outcome; /* borrowed */
    bool gone;        /* the entry is a digest issue of a list that was removed; post.list is NULL */
    bool before;      /* an earlier try of the entry has recorded its effect in the store */
    int64_t number;   /* the number that was recorded with that effect */
    bool settles;     /* the post has something to write in list_runner_settle() */
    /* The `who` to count with ACCOUNT_PASSWORDS (store/people/account.h), because the post brought a wrong password of
     * a moderator; else NULL. */
    char *wrong_password;
    Verdict verdict;      /* for in */
    Schedule schedule;    /* for in: when it is to be sent */
    int64_t scheduled;    /* for in: its number among those that wait for their time, or 0 */
    bool stranger;    /* for in: the post is to be held, and none of its senders is on the list */
    bool tell;        /* for in: the sender gets a letter about it */
    Work *letters;    /* for in: letters that were written together with rows of the store; NULL: none */
} ListRunnerPost;

/* Announce to the store the questions that will be asked about the post, whose list is not read yet (judge_soon()). */
typedef void PostSoon(Post *post, const char *list_id);

/* Read the entry as a post, and look whether its effect was recorded. soon (NULL: nothing) announces further
 * questions, so that the store answers all together. The result borrows from the entry and the runner until the batch
 * is committed. NULL, with FAIL_NEVER: the list is gone. */
ListRunnerPost *list_runner_post_new(Runner *runner, Entry *entry, PostSoon *soon, Outcome *outcome, GError **error);
void list_runner_post_free(ListRunnerPost *own);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ListRunnerPost, list_runner_post_free)

/* For handle(): keep a post, which is consumed, until list_runner_take() in finish(). */
void list_runner_keep(Runner *runner, ListRunnerPost *own);

/* For end_batch(): write what the kept posts leave in the store, in one transaction. settle is called for each kept
 * post that `settles`, in their order. When settle fails, only its own writes are undone: its outcome gets the error
 * and loses its drafts. False: the transaction failed, and nothing was written. */
typedef bool ListRunnerSettle(Runner *runner, ListRunnerPost *own, GError **error);
bool list_runner_settle(Runner *runner, ListRunnerSettle *settle, GError **error);

/* For finish(): return the post that was kept for outcome; it is the caller's. Ask in the order of keeping: posts
 * before it are freed. */
ListRunnerPost *list_runner_take(Runner *runner, const Outcome *outcome);
