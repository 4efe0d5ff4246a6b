/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Prove that a power cut loses and doubles no delivery of the runner out. The scripts drive its real parts as
 * runners/outgoing/out.c does: those that mark who is done, and that end entries
 * (runners/outgoing/finish.h). In place of servers, the plan (crashplan_internal.h) says what becomes of each
 * recipient. The same parts work the queues out and retry when the states of these scripts are drained.
 */
#include "t/switchboard/crashworld.h"

/* Work three entries whose marks and ends share a group of syncs; one is put off into retry. */
void crashout_group(CrashWorld *world);
/* Put two recipients off together, and one of them in retry once more. */
void crashout_retry(CrashWorld *world);
/* Make the last try of an entry, whose bounce cannot be stored at first. */
void crashout_expire(CrashWorld *world);
/* Put an entry back since its transport takes nothing more, and stop the process. */
void crashout_leave(CrashWorld *world);
/* Fail to store an entry in retry: it stays with its marks until the next try. */
void crashout_stay(CrashWorld *world);
