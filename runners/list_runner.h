/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What the runners of list mail (in, pipeline, virgin) share: the store and one
 * transaction a batch, the lists, and the way from an entry to a Post and to
 * new entries. start, begin_batch, end_batch and stop go into their
 * RunnerSpec as they are; runner_data() is the ListRunner.
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
    const char *header_match_target; /* as in Post */
    VerpKeys *keys;        /* list_runner_keys() */
    int64_t keys_until;    /* monotonic */
    int64_t expire_at;     /* monotonic */
    void *more;            /* what one runner has besides */
} ListRunner;

bool list_runner_start(Runner *runner, GError **error);
bool list_runner_begin(Runner *runner, GError **error);
bool list_runner_end(Runner *runner, GError **error);
void list_runner_stop(Runner *runner);

/* For the idle of one runner: drops once an hour what the store need not remember any longer. */
int64_t list_runner_idle(Runner *runner);

/* An entry as a Post. */
typedef struct ListRunnerPost {
    Post post;
    Message *message;
} ListRunnerPost;

/* Reads the entry; FAIL_NEVER when its list is gone. The result borrows from
 * the entry, the runner and itself: it must not move. */
bool list_runner_post_init(ListRunnerPost *own, Runner *runner, Entry *entry, GError **error);
void list_runner_post_clear(ListRunnerPost *own);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ListRunnerPost, list_runner_post_clear)

/* Makes the Post of entry and hands it to process; what process writes to the
 * store is undone, for this entry alone, when it fails. */
typedef bool ListRunnerProcess(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error);
bool list_runner_handle(Runner *runner, Entry *entry, Outcome *outcome, ListRunnerProcess *process, GError **error);

/* The name under which an entry's effect is recorded: "command:4cd1..."; g_free(). */
char *list_runner_effect(const Entry *entry);

/* Has this entry's effect on the store been made at an earlier try, and with
 * what number? If not, the one that makes it records it. */
bool list_runner_find_effect(Runner *runner, Entry *entry, bool *before, int64_t *number, GError **error);
bool list_runner_record_effect(Runner *runner, Entry *entry, int64_t number, GError **error);

/* A draft with the entry's metadata (less what belongs to the entry alone) and
 * the message as it is now. */
Draft *list_runner_draft(const char *queue, Entry *entry, const Message *message);
/* The same with the message in pieces (of GBytes). */
Draft *list_runner_draft_pieces(const char *queue, Entry *entry, const GPtrArray *pieces);

/* Recipients from a NULL-terminated array, which is consumed. */
void list_runner_set_recipients(Draft *draft, char **addresses);
/* Those of the entry that are still to do; the entry must outlive the draft. */
void list_runner_copy_recipients(Draft *draft, const Entry *entry);

/* The keys that addresses and links are signed with; read again now and then, since somebody may make a new one.
 * Borrowed until the next batch begins. */
VerpKeys *list_runner_keys(Runner *runner, GError **error);

/* A unit of work (lists/work.h) about an entry, whose sender asks by mail; and its end: what it gathered goes into the
 * hop. Borrows from the entry. */
Work *list_runner_work(ListRunner *own, Entry *entry);
void list_runner_work_into(Work *work, Outcome *outcome);

/* One line a hop. */
void list_runner_log(Entry *entry, const char *format, ...) G_GNUC_PRINTF(2, 3);
