/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What the runners of list mail share: the store, the lists, and the way from an entry to a Post and to new entries.
 * start and stop go into their RunnerSpec as they are, and runner_data() is the ListRunner.
 *
 * There are two ways to use the store in a batch. Runners of posts (in, pipeline) work without a transaction:
 * begin_batch is list_runner_refresh(), handle() only reads the store and keeps a ListRunnerPost, end_batch writes what
 * all kept ones leave there in one short transaction (list_runner_settle()), and finish() makes the entries. So many
 * instances work at once. The others (bounces, command) hold one transaction for the batch: list_runner_begin() and
 * list_runner_end().
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "mail/verp.h"
#include "posting/list_cache.h"
#include "posting/post.h"
#include "runners/runner.h"
#include "store/store.h"

typedef struct ListRunner {
    Store *store;
    ListCache *lists;
    GArray *archivers; /* of PostArchiver, zero-terminated: those that are enabled */
    WorkSite site;    /* its keys are not set */
    bool no_requests; /* as in Post */
    PostCopies copies;
    PostSite post_site;
    GPtrArray *dkim_keys, *rule_programs, *handler_programs; /* of post_site */
    struct Orders *orders; /* likewise */
    VerpKeys *keys;        /* list_runner_keys() */
    int64_t keys_until;    /* monotonic */
    GPtrArray *kept;       /* of ListRunnerPost: list_runner_keep(), in order; NULL where it was taken */
    unsigned taken;        /* up to this one */
    void *more;            /* what one runner has besides */
} ListRunner;

bool list_runner_start(Runner *runner, GError **error);
bool list_runner_refresh(Runner *runner, GError **error); /* forgets lists and keys that may be stale */
bool list_runner_begin(Runner *runner, GError **error);
bool list_runner_end(Runner *runner, GError **error);
void list_runner_stop(Runner *runner);

/* An entry as a Post. */
typedef struct ListRunnerPost {
    Post post;
    Message *message;
    Entry *entry;     /* borrowed */
    Outcome *outcome; /* borrowed */
    bool before;      /* an earlier try has left its effect in the store, */
    int64_t number;   /* with this number */
    bool settles;     /* it has something to write */
    int verdict;      /* for in: Verdict */
    bool tell;        /* for in: its sender gets a letter */
    Work *letters;    /* for in: those that were written with their rows; NULL: none */
} ListRunnerPost;

/* Reads the entry and whether its effect was recorded. NULL: FAIL_NEVER when its list is gone. The result borrows from
 * the entry and the runner, until the batch is committed. */
ListRunnerPost *list_runner_post_new(Runner *runner, Entry *entry, Outcome *outcome, GError **error);
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

/* The name under which an entry's effect is recorded: "command:4cd1..."; g_free(). */
char *list_runner_effect(const Entry *entry);

/* Has this entry's effect on the store been made at an earlier try, and with
 * what number? If not, the one that makes it records it. */
bool list_runner_find_effect(Runner *runner, Entry *entry, bool *before, int64_t *number, GError **error);
bool list_runner_record_effect(Runner *runner, Entry *entry, int64_t number, GError **error);

/* For runners without a transaction: tells whoever looks after the outbox that an entry that came from there was worked
 * on, in a transaction of its own, since hardly any entry comes from there. */
bool list_runner_record_outbox(Runner *runner, Entry *entry, GError **error);

/* A draft with the entry's metadata (less what belongs to the entry alone) and
 * the message as it is now. */
Draft *list_runner_draft(const char *queue, Entry *entry, const Message *message);
/* The same with the message in pieces (of GBytes). */
Draft *list_runner_draft_pieces(const char *queue, Entry *entry, const GPtrArray *pieces);

/* The keys that addresses and links are signed with; read again now and then, since somebody may make a new one.
 * Borrowed until the next batch begins. */
VerpKeys *list_runner_keys(Runner *runner, GError **error);

/* A unit of work (lists/work.h) about an entry, whose sender asks by mail; and its end: what it gathered goes into the
 * hop. Borrows from the entry. */
Work *list_runner_work(ListRunner *own, Entry *entry);
void list_runner_work_into(Work *work, Outcome *outcome);

/* One line a hop. */
void list_runner_log(Entry *entry, const char *format, ...) G_GNUC_PRINTF(2, 3);
