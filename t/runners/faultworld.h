/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A spool whose entries take every way there is, with runners that work it
 * as real ones do: for faults-t. Messages have numbers; what becomes of each
 * is a plan. What is felt outside is counted in shared memory.
 */
#include "runners/runner.h"
#include "switchboard/intake.h"

#define FAULT_MESSAGES 12

/* All that the world outside has seen. */
typedef struct FaultOutside {
    unsigned delivered[26]; /* by recipient, a to z */
    unsigned acknowledged;  /* messages, a bit each */
    unsigned refused;       /* messages that intake did not take */
} FaultOutside;

typedef struct FaultWorld {
    char *path; /* holds spool/, archived/, clock, listrunner.conf */
    char *spool_path;
    FaultOutside *outside; /* shared with the processes */
    GPtrArray *snapshot;   /* of a file each */
    FaultOutside outside_then;
    bool unreadable; /* the disk did not give what recovery asked for: a person has it now */
    unsigned in_flight; /* recipients that may come twice: a process died with them in hand */
} FaultWorld;

extern FaultWorld faultworld;

void faultworld_open(void);
void faultworld_close(void);

/* Empties it, then brings it to where a phase begins: nothing; entries in every
 * state in `in`; or, drained as far as before this queue, in out, retry, archive. */
void faultworld_prepare(const char *phase);
void faultworld_restore(void); /* to where it was prepared to */

/* The phase intake, for a process of its own: stores, notes what was acknowledged, logs
 * what was not. */
void faultworld_intake(void);

/* The handler of each queue; the runner may be NULL. */
bool faultworld_handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error);

/* NULL, or what a process leaves behind that goes on: files that are neither
 * ready nor set aside. g_free(). */
char *faultworld_unfinished(const char *queue);

/* Two days later, without faults, all runners work until nothing is left. NULL, or what
 * was lost, made twice, or changed. g_free(). */
char *faultworld_judge(void);
