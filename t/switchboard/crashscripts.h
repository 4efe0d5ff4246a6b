/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * List the scripts of crash_states-t (crashproof.h). Each makes some transitions of switchboard/INTERNALS.md in an
 * empty world.
 */
#include "t/switchboard/crashworld.h"

void crashscript_intake(CrashWorld *world);
void crashscript_hops(CrashWorld *world);
void crashscript_together(CrashWorld *world);
void crashscript_chain(CrashWorld *world);
void crashscript_deliver(CrashWorld *world);
void crashscript_bounce_claimed(CrashWorld *world);
void crashscript_preserve(CrashWorld *world);
void crashscript_sweep(CrashWorld *world);
void crashscript_few_open(CrashWorld *world);
void crashscript_damage(CrashWorld *world);
void crashscript_damage_stays(CrashWorld *world);
void crashscript_makes_queue(CrashWorld *world);
void crashscript_finds_queue(CrashWorld *world);
void crashscript_stray(CrashWorld *world);
void crashscript_killed_deciding(CrashWorld *world);
void crashscript_killed_together(CrashWorld *world);
void crashscript_killed_intake(CrashWorld *world);
void crashscript_stored_again(CrashWorld *world);
void crashscript_killed_publishing(CrashWorld *world);
void crashscript_takes(CrashWorld *world);
void crashscript_takes_and_dies(CrashWorld *world);
void crashscript_killed_undoing(CrashWorld *world);
void crashscript_killed_before(CrashWorld *world);
void crashscript_failed(CrashWorld *world);
void crashscript_poison(CrashWorld *world);
void crashscript_acts(CrashWorld *world);
