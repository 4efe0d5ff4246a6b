/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Drive a runner of list mail without its frame (t/runners/runnerframe.h), with a spool and a store of its own. There
 * are the lists test@example.com and other@example.com with the owners olga@example.net and paul@example.net. A call
 * that fails otherwise than its comment says fails the test.
 */
#include "lists/work.h"
#include "t/runners/runnerframe.h"
#include "t/switchboard/fixture.h"

#define LIST "test.example.com"
#define OTHER "other.example.com"

typedef struct ListFrame {
    Fixture fixture;
    char *database;
    Store *store; /* a connection of the test's own */
    Hop *hop;
    GHashTable *inboxes; /* by queue */
    GError *error;
} ListFrame;

/* Start the runner with this main(); more: further lines of the configuration. */
void list_frame_open(ListFrame *frame, int (*main_of)(int, char **), const char *more);
/* Stop the runner and start it again, as in a new process. */
void list_frame_restart(ListFrame *frame);
void list_frame_close(ListFrame *frame);

/* Store the draft (taken), and claim the entry. */
Entry *list_frame_entry(ListFrame *frame, Draft *draft);
/* Claim the only entry of a queue that is not claimed. */
Entry *list_frame_claim(ListFrame *frame, const char *queue);

/* Let the runner handle the entry (taken) in a batch of its own. If it fails, its error is outcome->error. */
Outcome *list_frame_handle(ListFrame *frame, Entry *entry);
/* Commit the outcome (taken), and tell the runner. If it has an error, its entry is put back into the queue instead. */
void list_frame_commit(ListFrame *frame, Outcome *outcome);
/* Handle the entry and commit the outcome. The test fails when the runner does. */
void list_frame_run(ListFrame *frame, Entry *entry);

/* Let the runner handle the entry (taken) while the database lacks the table. The test fails unless the runner does.
 * Return the entry, claimed anew. */
Entry *list_frame_fail_without(ListFrame *frame, Entry *entry, const char *table);

/* Set the clock to noon, so that no day ends in the test. Call it before g_test_init(). */
void list_frame_set_noon(void);

/* Run SQL on the database, by a connection that the store does not know. */
void list_frame_sql(const ListFrame *frame, const char *text);
/* Return the number of rows of a table. */
unsigned list_frame_rows(const ListFrame *frame, const char *table);
