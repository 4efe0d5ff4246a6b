/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A runner of list mail without its frame (t/runners/runnerframe.h), with a spool and a store of its own, the lists
 * test@example.com and other@example.com, and an owner of each, olga@example.net and paul@example.net.
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

/* Starts the runner whose main() this is; more: lines of the configuration. */
void list_frame_open(ListFrame *frame, int (*main_of)(int, char **), const char *more);
/* Ends the runner's process, so to say, and starts it again. */
void list_frame_restart(ListFrame *frame);
void list_frame_close(ListFrame *frame);

/* Stores the draft, which is consumed, and claims it. */
Entry *list_frame_entry(ListFrame *frame, Draft *draft);
/* Claims the only entry of a queue that is not claimed. */
Entry *list_frame_claim(ListFrame *frame, const char *queue);

/* Handles the entry, which is consumed, in a batch of its own. What failed is the outcome's error. */
Outcome *list_frame_handle(ListFrame *frame, Entry *entry);
/* Commits the outcome, which is consumed, and tells the runner. The entry of one with an error is put back. */
void list_frame_commit(ListFrame *frame, Outcome *outcome);
/* Both. The test fails when the runner does. */
void list_frame_run(ListFrame *frame, Entry *entry);

/* Handles the entry, which is consumed, while the database lacks the table. The test fails unless the runner does. The
 * entry comes again, claimed. */
Entry *list_frame_fail_without(ListFrame *frame, Entry *entry, const char *table);

/* Makes it noon, so that no day ends in the test. Before g_test_init(). */
void list_frame_set_noon(void);

/* Changes the database behind the store's back. */
void list_frame_sql(const ListFrame *frame, const char *text);
unsigned list_frame_rows(const ListFrame *frame, const char *table);
