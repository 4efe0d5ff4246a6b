/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Give the runners of list mail what they share: the store, the lists, the keys, and the way from an entry to new
 * entries. Put start and stop into the RunnerSpec as they are; runner_data() is then the ListRunner. Runners of posts
 * (in, pipeline, virgin) use list_posts.h for that.
 *
 * Begin a batch with list_runner_refresh(). A runner that writes to the store does so in a transaction for each entry
 * (bounces, command), so that others wait for one entry and not for a batch; the batch's one sync makes all of these
 * durable where the driver can (store_leave_sync()).
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "mail/loop_mark.h"
#include "mail/message.h"
#include "mail/verp.h"
#include "posting/list_cache.h"
#include "runners/runner.h"
#include "store/store.h"

typedef struct ListPosts ListPosts;
typedef struct KeptRows KeptRows;

typedef struct ListRunner {
    Store *store;
    ListCache *lists;
    WorkSite site;    /* its keys are not set */
    bool no_requests; /* as in Post */
    VerpKeys *keys;     /* list_runner_keys() */
    LoopKeys *loop_keys; /* list_runner_loop_keys() */
    int64_t keys_until; /* monotonic: of both */
    ListPosts *posts;   /* of a runner of posts (list_posts.h); else NULL */
    GPtrArray *kept;    /* likewise: of ListRunnerPost, in order; NULL where one was taken */
    unsigned taken;     /* up to this one */
    KeptRows *rows;     /* kept_rows.h; NULL where no entry has such */
    void *more;         /* what one runner has besides */
} ListRunner;

bool list_runner_start(Runner *runner, GError **error);
bool list_runner_refresh(Runner *runner, GError **error); /* forgets lists and keys that may be stale */
/* Commit the transaction of an entry when that is done, else undo it. False: nothing was written. */
bool list_runner_end(ListRunner *own, bool done, GError **error);
void list_runner_stop(Runner *runner);

/* Return what the address asks for that the mail came to, one of TO_* (keys.h); borrowed. */
const char *list_runner_asked(Entry *entry);

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

/* The keys that addresses and links are signed with; read again now and then, since somebody may make a new one.
 * Borrowed until the next batch begins. */
VerpKeys *list_runner_keys(Runner *runner, GError **error);
/* The same for the marks of mail that leaves. */
const LoopKeys *list_runner_loop_keys(ListRunner *own, GError **error);

/* Read where the mail of an entry has been (mail/loop_mark.h), and log a mark that is not ours. */
bool list_runner_loop_mark(ListRunner *own, Entry *entry, const Message *message, LoopMark *mark, GError **error);

/* A unit of work (lists/work.h) about an entry, whose sender asks by mail; and its end: what it gathered goes into the
 * hop. Borrows from the entry. */
Work *list_runner_work(ListRunner *own, Entry *entry);
/* Return the address of the host that the MTA before us took the message from; g_free(). NULL: it is not said, or is no
 * public address. Then it is a relay or filter of the site's own, which brings the mail of everybody. */
char *list_runner_host(const Message *message);
/* Note that host (work_set_host()). */
void list_runner_set_host(Work *work, const Message *message);
void list_runner_work_into(Work *work, Outcome *outcome);

/* One line a hop. */
void list_runner_log(Entry *entry, const char *format, ...) G_GNUC_PRINTF(2, 3);
