/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Give each test a spool in a temporary directory, and make and claim entries in a few words. A call that fails fails
 * the test.
 */
#include <glib.h>

#include "switchboard/claim.h"
#include "switchboard/draft.h"
#include "switchboard/hop.h"
#include "switchboard/intake.h"

typedef struct Fixture {
    char *path;
    Spool *spool;
} Fixture;

void fixture_set_up(Fixture *fixture, gconstpointer data);
void fixture_tear_down(Fixture *fixture, gconstpointer data);

/* Open the spool anew, as a process after a crash does. */
void fixture_reopen(Fixture *fixture);

/* Return a draft for the queue, with this List-Id and message; draft_free(). */
Draft *fixture_draft(const char *queue, const char *list, const char *message);
/* Add recipients to a draft. The array, ended by NULL, and its addresses must outlive the draft. */
void fixture_add_recipients(Draft *draft, const char *const *addresses);

/* Store a message by intake (switchboard/intake.h). Return the name of the entry; g_free(). */
char *fixture_store(Fixture *fixture, const char *queue, const char *message);

/* Open the inbox of a queue, with all its slices; inbox_free(). */
Inbox *fixture_inbox(Fixture *fixture, const char *queue);
/* Claim everything that is due in the inbox. Return an array of Entry, which does not free them. */
GPtrArray *fixture_claim(Inbox *inbox);

/* Return the names of the queue's files with that suffix ("" for all), sorted, as one text with commas. */
char *fixture_files(Fixture *fixture, const char *queue, const char *suffix);
/* Return the number of these files. */
unsigned fixture_count(Fixture *fixture, const char *queue, const char *suffix);
/* Return the path of a file of a queue; g_free(). */
char *fixture_file_path(Fixture *fixture, const char *queue, const char *file);

/* Rename the only file of in that has this suffix, so that it has the other one, as a power cut may leave it. */
void fixture_set_state(Fixture *fixture, const char *from, const char *to);
