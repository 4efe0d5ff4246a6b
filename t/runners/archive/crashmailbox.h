/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The archive runner in the world of crash states (t/switchboard/crashproof.h): posts that lie in archive, the runner's
 * own code (archive.c with maildir.c or mbox.c) that brings them into mailboxes under SPOOL/box, and a judge that reads
 * these by their format. Each post that was taken must be there once, byte for byte, and nothing else that a reader
 * would see; nothing must be left in the queue.
 */
#include "t/switchboard/crashworld.h"

/* The world of scripts: before each, and what follows it. */
void crashmailbox_init(CrashWorld *world);
void crashmailbox_clear(CrashWorld *world);

/* Which type of archiver it is from now on: "maildir" or "mbox". */
void crashmailbox_use(CrashWorld *world, const char *type);

/* For scripts. Posts come as one group, those with an odd number to a second list. */
void crashmailbox_store(CrashWorld *world, const int *posts, size_t count);

/* A start of the runner, which works until nothing is ready. False when the process must end. */
bool crashmailbox_run(CrashWorld *world, Slice slice, unsigned *worked);

extern unsigned crashmailbox_batch; /* so many at once; many, unless a script wants less */

/* Why mboxes are flushed before their batch is at its end: another program has the next one locked, as long as we hold
 * others; or one has too much to append. Only while calls are recorded. */
extern bool crashmailbox_busy, crashmailbox_full;

/* A function that is called once, when the mails are stored in the mailboxes and before the entries end. */
extern void (*crashmailbox_between)(CrashWorld *world);
