/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Share functions among the files of faultworld.h: the plan (faultworld.c), the spool (faultspool.c), and the judge
 * (faultjudge.c).
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

/* Return a draft of the message with this number. */
Draft *fault_message_draft(int number);

/* Return the number of the message that has these bytes, or that the entry has; -1: it is none of them. */
int fault_number_of(GBytes *octets);
int fault_entry_number(Entry *entry);
bool fault_is_poison(Entry *entry);
void fault_add_kids(const Plan *plan, Outcome *outcome);

/* Open the spool anew; spool_free(). */
Spool *faultworld_spool(void);
void faultworld_set_clock(const char *seconds);

/* Work all that is ready in the queue, without faults. Return the number of entries that were claimed. */
unsigned faultworld_work(Spool *spool, const char *queue);

/* Call visit for every file and directory below path; a directory comes after its content. */
void faultworld_walk(const char *path, void (*visit)(const char *path, bool directory));

/* Return whether a file of these bytes was there when the phase was prepared. */
bool faultworld_was_there(GBytes *octets);
