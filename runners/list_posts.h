/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make posts of the entries of in, pipeline and virgin, with what the configuration says about rules, handlers,
 * archivers and signatures. Put list_posts_start() and list_posts_stop() into the RunnerSpec as they are; runner_data()
 * is a ListRunner. A runner that handles no posts does not link this file, and so loads no library for MIME or DKIM.
 *
 * in and pipeline work without a transaction: begin_batch is list_runner_refresh(), handle() only reads the store and
 * keeps a ListRunnerPost, end_batch writes what all kept ones leave in the store, in one short transaction
 * (list_runner_settle()), and finish() makes the entries. So instances do not wait for each other.
 */
#include "posting/post.h"
#include "posting/schedule.h"
#include "runners/list_runner.h"

/* Start as list_runner_start() does, and read the settings of posts. FAIL_* as there. */
bool list_posts_start(Runner *runner, GError **error);
void list_posts_stop(Runner *runner);

/* An entry as a Post. */
typedef struct ListRunnerPost {
    Post post;
    Message *message;
    Entry *entry;     /* borrowed */
    Outcome *outcome; /* borrowed */
    bool gone;        /* an issue of the digest of a list that was removed; the post has none */
    bool before;      /* an earlier try has left its effect in the store, */
    int64_t number;   /* with this number */
    bool settles;     /* it has something to write */
    char *wrong_password; /* it brought a moderator's password that is not the list's: who is counted; else NULL */
    Verdict verdict;      /* for in */
    Schedule schedule;    /* for in: when it is to be sent */
    int64_t scheduled;    /* for in: its number among those that wait for their time, or 0 */
    bool stranger;    /* for in: none of its senders is on the list; set when it is to be held */
    bool tell;        /* for in: its sender gets a letter */
    Work *letters;    /* for in: those that were written with their rows; NULL: none */
} ListRunnerPost;

/* Says to the store what will be asked about the post, which has no list yet: judge_soon(). */
typedef void PostSoon(Post *post, const char *list_id);

/* Reads the entry and whether its effect was recorded, together with what soon says (NULL: nothing). Returns NULL:
 * FAIL_NEVER when its list is gone. The result borrows from the entry and the runner, until the batch is committed. */
ListRunnerPost *list_runner_post_new(Runner *runner, Entry *entry, PostSoon *soon, Outcome *outcome, GError **error);
void list_runner_post_free(ListRunnerPost *own);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ListRunnerPost, list_runner_post_free)

/* Keeps a post, which is consumed, from handle() to finish(). */
void list_runner_keep(Runner *runner, ListRunnerPost *own);

/* For end_batch: writes what the posts that were kept leave in the store, in one transaction. settle is called for each
 * that settles, in their order; when it fails, what it wrote is undone, and its outcome gets the error and loses its
 * drafts. */
typedef bool ListRunnerSettle(Runner *runner, ListRunnerPost *own, GError **error);
bool list_runner_settle(Runner *runner, ListRunnerSettle *settle, GError **error);

/* For finish(): gives the post back that was kept for outcome. */
ListRunnerPost *list_runner_take(Runner *runner, const Outcome *outcome);
