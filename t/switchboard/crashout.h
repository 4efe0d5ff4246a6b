/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The runner out, by its real parts: what remembers deliveries (runners/outgoing/marks.h) and ends entries
 * (runners/outgoing/finish.h), driven as runners/outgoing/out.c does it. In place of servers, the plan says what
 * becomes of whom. It serves out and retry in these scripts and in their drains.
 */
#include "t/switchboard/crashworld.h"

void crashout_group(CrashWorld *world);
void crashout_retry(CrashWorld *world);
void crashout_expire(CrashWorld *world);
void crashout_leave(CrashWorld *world);
void crashout_stay(CrashWorld *world);
