/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Shared by the parts of the world: the plan (faultworld.c), the spool
 * (faultspool.c), the judge (faultjudge.c).
 */
#include "t/runners/faultworld.h"

#define ARRIVAL INT64_C(1763644800000000)
#define TWO_DAYS "172800"
#define REFUSED "d" /* this recipient is bounced */

typedef enum Fate {
    WORKED,    /* kids come of it */
    NEVER,     /* goes to shunt */
    LATER,     /* is put back until the second day */
    DAMAGED,   /* goes to corrupt */
    POISON,    /* has crashed its runner three times */
    UNDONE,    /* its runner died before the commit */
    DECIDED,   /* its runner died after the commit */
} Fate;

typedef struct Plan {
    Fate fate;
    unsigned slice; /* of two */
    const char *kids[3]; /* recipients of an entry in out; "" for one in archive */
    size_t length;
} Plan;

extern const Plan fault_plans[FAULT_MESSAGES];

Draft *fault_message_draft(int number);

/* Which message this is, byte for byte; -1: none. */
int fault_number_of(GBytes *octets);
int fault_entry_number(Entry *entry);
bool fault_is_poison(Entry *entry);
void fault_add_kids(const Plan *plan, Outcome *outcome);

Spool *faultworld_spool(void); /* opened anew; spool_free() */
void faultworld_set_clock(const char *seconds);

/* Works all that is ready in the queue, without faults; how many were claimed. */
unsigned faultworld_work(Spool *spool, const char *queue);

/* Calls visit with everything below path, directories after what they hold. */
void faultworld_walk(const char *path, void (*visit)(const char *path, bool directory));

/* Whether a file of these bytes was there when a phase was prepared. */
bool faultworld_was_there(GBytes *octets);
