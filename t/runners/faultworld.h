/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make a spool whose entries take every way that there is, with runners that work it as real ones do, for faults-t.
 * Messages have numbers, and a plan says what is to become of each. Deliveries and answers, which the world outside
 * sees, are counted in memory that the processes share.
 *
 *   faultworld_prepare("in"); for each fault: faultworld_restore(), a process that works with the fault,
 *   faultworld_judge()
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

/* Empty the spool, and bring it to where a phase begins. For intake it stays empty; for "in" that queue has entries in
 * every state; for "out", "retry" and "archive" the queues before are worked off. */
void faultworld_prepare(const char *phase);
/* Bring the spool back to the state that faultworld_prepare() made. */
void faultworld_restore(void);

/* Work the phase intake, in a process of its own: store messages, and note which were acknowledged and refused. */
void faultworld_intake(void);

/* Handle an entry of any queue by the plan; the runner may be NULL. */
bool faultworld_handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error);

/* Return a text about files that are neither ready nor set aside, which a process that goes on must not leave;
 * g_free(). NULL: there are none. */
char *faultworld_unfinished(const char *queue);

/* Let all runners work, two days later and without faults, until nothing is left. Return a text about messages that
 * were lost, made twice or changed; g_free(). NULL: there are none. */
char *faultworld_judge(void);
