/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A spool in a temporary directory, and short ways to make entries: for the
 * tests of the switchboard.
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

/* Opens the spool anew, as a process after a crash does. */
void fixture_reopen(Fixture *fixture);

Draft *fixture_draft(const char *queue, const char *list, const char *message);
/* NULL-terminated addresses; must outlive the draft. */
void fixture_add_recipients(Draft *draft, const char *const *addresses);

/* Stores a message by intake; returns the name as text, g_free(). */
char *fixture_store(Fixture *fixture, const char *queue, const char *message);

/* Claims everything that is due, of the whole queue. */
Inbox *fixture_inbox(Fixture *fixture, const char *queue);
GPtrArray *fixture_claim(Inbox *inbox);

/* Return the names of the queue's files with that suffix ("" for all), sorted, as one text with commas. */
char *fixture_files(Fixture *fixture, const char *queue, const char *suffix);
unsigned fixture_count(Fixture *fixture, const char *queue, const char *suffix);
char *fixture_file_path(Fixture *fixture, const char *queue, const char *file);

/* Rename the only file of in that has this suffix, so that it has the other one, as a power cut may leave it. */
void fixture_set_state(Fixture *fixture, const char *from, const char *to);

/* Writes into the head of a claimed entry that it is decided, and syncs it, as an earlier version did (INTERNALS.md,
 * "Decided in the head"). False when a call failed. */
bool fixture_decide_in_head(Queue *queue, const char *file);
