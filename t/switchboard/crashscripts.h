/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * List the scripts of crash_states-t (crashproof.h). Each makes some transitions of switchboard/INTERNALS.md in an
 * empty world.
 */
#include "t/switchboard/crashworld.h"

void crashscript_intake(CrashWorld *world);
/* Work two slices at once, in batches of one, so that clean-up is owed from one batch to the next. */
void crashscript_hops(CrashWorld *world);
/* Commit several parents at once, which share the sync of their directory. */
void crashscript_together(CrashWorld *world);
/* Let each runner work on entries that the one before has published and not yet synced. */
void crashscript_chain(CrashWorld *world);
/* Deliver with marks and bounces, and put an entry off into retry. */
void crashscript_deliver(CrashWorld *world);
/* Let a runner work on a bounce before the mark of its recipient is on the disk. */
void crashscript_bounce_claimed(CrashWorld *world);
void crashscript_preserve(CrashWorld *world);
/* Sweep the files of an intake that died, beside one that lives. */
void crashscript_sweep(CrashWorld *world);
/* Commit a hop that may hold only one file open at a time. */
void crashscript_few_open(CrashWorld *world);
void crashscript_damage(CrashWorld *world);
/* Find a damaged entry while files in corrupt/ cannot be synced. */
void crashscript_damage_stays(CrashWorld *world);
/* Make the queue that a child goes to. */
void crashscript_makes_queue(CrashWorld *world);
/* Die while a queue is made, before it is on the disk. */
void crashscript_finds_queue(CrashWorld *world);
/* Bring a child whose parent is lost to shunt (R6). */
void crashscript_stray(CrashWorld *world);
void crashscript_killed_deciding(CrashWorld *world);
void crashscript_killed_together(CrashWorld *world);
/* Die in intake before its sync; R8 takes the whole entry in. */
void crashscript_killed_intake(CrashWorld *world);
void crashscript_stored_again(CrashWorld *world);
void crashscript_killed_publishing(CrashWorld *world);
/* Let one message take another (T8a). */
void crashscript_takes(CrashWorld *world);
/* Let one message take another, and die while its children are published. */
void crashscript_takes_and_dies(CrashWorld *world);
/* Die before the commit, and again in the recovery before it has synced. */
void crashscript_killed_undoing(CrashWorld *world);
void crashscript_killed_before(CrashWorld *world);
/* Fail to sync a child; the next try has another outcome. */
void crashscript_failed(CrashWorld *world);
/* Work a message that kills its runner each time, until recovery sets it aside (R4). */
void crashscript_poison(CrashWorld *world);
/* Let an operator act on an entry that a runner has claimed durably. */
void crashscript_acts(CrashWorld *world);
