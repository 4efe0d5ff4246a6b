/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Give each test a spool in a temporary directory, and make and claim entries in a few words. A call that fails fails
 * the test.
 */
#include <glib.h>

#include "base/fs.h"
#include "switchboard/claim.h"
#include "switchboard/draft.h"
#include "switchboard/hop.h"
#include "switchboard/intake.h"
#include "switchboard/recover.h"

typedef struct Fixture {
    char *path;
    Spool *spool;
} Fixture;

void fixture_set_up(Fixture *fixture, gconstpointer data);
/* Remove the spool, and beside it PATH.conf, the database PATH.db and PATH.sock. */
void fixture_tear_down(Fixture *fixture, gconstpointer data);

/* Open the spool anew, as a process after a crash does. */
void fixture_reopen(Fixture *fixture);

/* Return a draft for the queue, with this List-Id and message; draft_free(). */
Draft *fixture_draft(const char *queue, const char *list, const char *message);
/* Add recipients to a draft. The array, ended by NULL, and its addresses must outlive the draft. */
void fixture_add_recipients(Draft *draft, const char *const *addresses);

/* Store a message by intake (switchboard/intake.h). Return the name of the entry; g_free(). */
char *fixture_store(Fixture *fixture, const char *queue, const char *message);

/* Store the draft, which is freed, by intake. */
void fixture_put(Fixture *fixture, Draft *draft);

/* Open the inbox of a queue, with all its slices; inbox_free(). */
Inbox *fixture_inbox(Fixture *fixture, const char *queue);
/* Claim everything that is due in the inbox. Return an array of Entry, which does not free them. */
GPtrArray *fixture_claim(Inbox *inbox);
/* Claim the one entry that is due in the inbox; entry_free(). */
Entry *fixture_claim_one(Inbox *inbox);
/* Open the one entry that is ready in the queue; entry_free(). */
Entry *fixture_open(Fixture *fixture, const char *queue);
/* Return the text of its message; g_free(). */
char *fixture_text(Entry *entry);
/* Have the only file of the queue with that suffix gone. */
void fixture_lose(Fixture *fixture, const char *queue, const char *suffix);

/* Recover the whole queue, as the start of its runner does (switchboard/recover.h). */
RecoverReport fixture_recover(Fixture *fixture, const char *queue, bool thorough);

/* Return the names of the queue's files with that suffix ("" for all), sorted, as one text with commas. */
char *fixture_files(Fixture *fixture, const char *queue, const char *suffix);
/* Return the number of these files. */
unsigned fixture_count(Fixture *fixture, const char *queue, const char *suffix);
/* Return the path of a file of a queue; g_free(). */
char *fixture_file_path(Fixture *fixture, const char *queue, const char *file);

/* Rename the only file of in that has this suffix, so that it has the other one, as a power cut may leave it. */
void fixture_set_state(Fixture *fixture, const char *from, const char *to);

/* Record the calls of base/fs.h from now on. The one of this kind that comes after so many others of it fails with this
 * errno; 0: none fails. */
void fixture_record(FsCall call, int others, int error);
/* End that, and return the calls as letters, until the next record: c create, w write, r rename, u unlink, f sync file,
 * d sync directory. */
const char *fixture_recorded(void);
