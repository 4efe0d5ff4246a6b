/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Prove that a power cut loses and doubles no post of an archive (t/switchboard/crashproof.h). Posts lie in the queue
 * archive. The runner's own code (archive.c with maildir.c or mbox.c) brings them into mailboxes under SPOOL/box. A
 * judge reads these by their format. Each post that was taken must be there once, byte for byte, and nothing else that
 * a reader would see. Nothing must be left in the queue.
 */
#include "t/switchboard/crashworld.h"

/* Make the world of these scripts, and free it: CrashProgram.set_up and tear_down. */
void crashmailbox_init(CrashWorld *world);
void crashmailbox_clear(CrashWorld *world);

/* Let the archiver be of this type from now on: "maildir" or "mbox". */
void crashmailbox_use(CrashWorld *world, const char *type);

/* For scripts: store posts of these numbers as one group. Those with an odd number go to a second list. */
void crashmailbox_store(CrashWorld *world, const int *posts, size_t count);

/* Start the runner, which works until nothing is ready. False: the process must end. *worked counts entries. */
bool crashmailbox_run(CrashWorld *world, Slice slice, unsigned *worked);

extern unsigned crashmailbox_batch; /* entries in a batch of the runner; a script may want fewer */

/* Two reasons to flush mboxes before the end of a batch, which a script can set while calls are recorded. busy: another
 * program has locked the next mbox while we hold others. full: one mbox has too much to append. */
extern bool crashmailbox_busy, crashmailbox_full;

/* A function that is called once, when the mails are stored in the mailboxes and before the entries end. */
extern void (*crashmailbox_between)(CrashWorld *world);
