/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Prove that a power cut loses and doubles no delivery of the runner out. The scripts drive its real parts as
 * runners/outgoing/out.c does: those that remember deliveries (runners/outgoing/marks.h) and that end entries
 * (runners/outgoing/finish.h). In place of servers, the plan (crashplan_internal.h) says what becomes of each
 * recipient. The same parts work the queues out and retry when the states of these scripts are drained.
 */
#include "t/switchboard/crashworld.h"

void crashout_group(CrashWorld *world);
void crashout_retry(CrashWorld *world);
void crashout_expire(CrashWorld *world);
void crashout_leave(CrashWorld *world);
void crashout_stay(CrashWorld *world);
