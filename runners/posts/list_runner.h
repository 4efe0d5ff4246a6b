/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Give the runners of list mail what they share: the store, the lists, the keys, and the way from an entry to new
 * entries. Put list_runner_start() and list_runner_stop() into the RunnerSpec as they are, or call them from a start
 * and stop of your own; runner_data() is then the ListRunner. Runners of posts (in, pipeline, virgin) use list_posts.h
 * instead.
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
#include "posting/list_cache.h"
#include "runners/posts/runner_seat.h"
#include "runners/runner.h"
#include "store/store.h"

typedef struct ListPosts ListPosts;
typedef struct KeptRows KeptRows;

typedef struct ListRunner {
    Seat seat;
    Store *store; /* the seat's */
    ListCache *lists;
    WorkSite site;    /* its keys are not set */
    bool no_requests; /* no runner works the queue command: letters must not name -join, -leave and -request */
    ListPosts *posts;   /* of a runner of posts (list_posts.h); else NULL */
    GPtrArray *kept;    /* of a runner of posts: of ListRunnerPost, in order; NULL where one was taken */
    unsigned taken;     /* the index in kept from which list_runner_take() (list_posts.h) looks on */
    KeptRows *rows;     /* kept_rows_start(); NULL: this runner keeps none */
    void *more;         /* state of one runner's own, which that runner frees */
} ListRunner;

/* Open the seat (runner_seat_open()), and read what all runners of list mail need. False also: runner_seat_settle()
 * failed. */
bool list_runner_start(Runner *runner, GError **error);
/* Begin a batch: forget lists that may be stale, and posts kept for the batch before. */
bool list_runner_refresh(Runner *runner, GError **error);
/* End the transaction of an entry. If done is true, commit it; false: that failed, and nothing was written. If done is
 * false, undo it and return false; the error stays the one that the caller has set. */
bool list_runner_end(ListRunner *own, bool done, GError **error);
void list_runner_stop(Runner *runner);

/* Return what the address that the mail came to asks for, one of TO_* (keys.h): TO_POSTING unless metadata says
 * another. Borrowed from the entry. */
const char *list_runner_asked(Entry *entry);

/* Return the name under which an entry's effect is recorded: "command:4cd1..."; g_free(). */
char *list_runner_effect(const Entry *entry);

/* Look whether an earlier try of this entry has recorded its effect on the store: *before says so, *number is the
 * number recorded with it. If not, make the effect, and record it in the same transaction with
 * list_runner_record_effect(). */
bool list_runner_find_effect(Runner *runner, Entry *entry, bool *before, int64_t *number, GError **error);
bool list_runner_record_effect(Runner *runner, Entry *entry, int64_t number, GError **error);

/* Make a draft for the queue with the entry's metadata, less the keys that belong to that entry alone, and with the
 * message as it is now. */
Draft *list_runner_draft(const char *queue, Entry *entry, const Message *message);
/* Make a draft as list_runner_draft() does, with the message in pieces (of GBytes). */
Draft *list_runner_draft_pieces(const char *queue, Entry *entry, const GPtrArray *pieces);

/* Return the keys that addresses and links are signed with, borrowed until the next batch; seat_keys(). NULL: the store
 * failed. */
VerpKeys *list_runner_keys(Runner *runner, GError **error);
/* Return the keys of loop marks (mail/loop_mark.h), borrowed as those of list_runner_keys(). NULL: the store failed. */
const LoopKeys *list_runner_loop_keys(ListRunner *own, GError **error);

/* Read into *mark which lists a message has passed (mail/loop_mark.h), and log marks that are not of this site. False:
 * the store failed. */
bool list_runner_loop_mark(ListRunner *own, Entry *entry, const Message *message, LoopMark *mark, GError **error);

/* Make a unit of work (lists/work.h) in the name of an entry's sender, who asks by mail. It borrows from the entry. */
Work *list_runner_work(ListRunner *own, Entry *entry);
/* Return the address of the host that the MTA before us took the message from; g_free(). NULL: it is not said, or is no
 * public address. Then it is a relay or filter of the site's own, which brings the mail of everybody. */
char *list_runner_host(const Message *message);
/* Tell the unit of work the host of list_runner_host() (work_set_host()). */
void list_runner_set_host(Work *work, const Message *message);
/* Move the drafts that the unit of work has gathered into the outcome, to be committed with it. */
void list_runner_work_into(Work *work, Outcome *outcome);

/* Write the line of the log about what became of an entry: its trace, list and queue, then this text. */
void list_runner_log(Entry *entry, const char *format, ...) G_GNUC_PRINTF(2, 3);

/*
 * Keep letters in rows of the store (lists/kept.h), for a runner whose entries write letters with tokens. When an entry
 * comes again after a crash, the same letters are read from its rows. Once the entry's hop is committed, its rows are
 * dropped, before the next batch or while the runner is idle. Rows that a killed process left are dropped when the next
 * one starts. A row that cannot be dropped stays for the timer.
 *
 * Put kept_rows_begin() and kept_rows_committed() into the RunnerSpec as they are.
 */

/* Read the spool's key for work_keep(), and drop the rows of entries that are gone. Call it from start(), behind
 * list_runner_start(). */
bool kept_rows_start(Runner *runner, GError **error);

/* Note, in handle(), that the outcome's entry has rows with this key, which are needed until the outcome is
 * committed. */
void kept_rows_note(ListRunner *own, const char *key, const Outcome *outcome);

/* Begin a batch: call list_runner_refresh(), and drop the rows that are needed no more. */
bool kept_rows_begin(Runner *runner, GError **error);
/* After the commit: mark the noted rows of each committed outcome to be dropped. */
void kept_rows_committed(Runner *runner);

/* Drop the rows that are needed no more; a failure is logged. For idle(). */
void kept_rows_idle(Runner *runner);
