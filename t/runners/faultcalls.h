/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Let system calls fail on purpose. The linker gives our objects these functions in place of the system's (-Wl,--wrap,
 * see FAULT_WRAP in runners/Makefile.inc). So the calls that the product makes fail, with the loops around them. A hook
 * in base/fs.h could not show that EINTR and short writes do no harm.
 *
 * Only calls on files and directories are counted, and FaultPlan narrows them. No helper threads are started, so calls
 * come in the same order each time.
 */
#include <glib.h>
#include <limits.h>
#include <stdbool.h>

#define FAULT_SHORT (-1) /* in place of an errno: the call takes less than it could */
#define FAULT_LASTING UINT_MAX

typedef struct FaultPlan {
    unsigned at; /* the first call that can have the error, from this number (from 1) on, has it; 0: none */
    int error;   /* errno, or FAULT_SHORT */
    unsigned times;    /* the number of calls that fail, of those that can; FAULT_LASTING: all from then on */
    const char *under; /* only calls on paths that begin so are counted; NULL: on any file or directory */
    const char *only;  /* only calls whose name matches this pattern are counted; NULL: any */
    unsigned allocation; /* the allocation of this number (from 1) and all after it find no memory; 0: none */
    bool alone;          /* the allocation of that number alone finds none */
} FaultPlan;

/* Counts of the calls and faults. It lies in memory that is shared with the process that waits for this one. */
typedef struct FaultReport {
    unsigned calls, injected, hit; /* hit: the number of the first that failed */
    unsigned allocations;
    char call[200]; /* the first that failed: "fsync in", "renameat2 in/NAME.msg" */
} FaultReport;

/* Count an allocation. False: by the plan there is no memory for it. */
bool faults_may_allocate(void);

/* Begin to count and to fail by the plan; the report is zeroed, and filled from then on. */
void faults_begin(const FaultPlan *plan, FaultReport *report);

/* Says what a process did. */
typedef struct FaultLife {
    int status; /* as of waitpid() */
    char *log;  /* what it wrote to stderr; g_free() */
} FaultLife;

/* Return true when it ended with this exit code (base/child.h). */
bool fault_life_ended(const FaultLife *life, int code);

/* Do work(data) in a process with the plan, which ends with the code that is returned. Its stdout goes nowhere. */
FaultLife faults_live(const FaultPlan *plan, FaultReport *report, int (*work)(const void *data), const void *data);

/* The errors that tests try. */
typedef struct FaultError {
    int error;
    const char *name;
} FaultError;
extern const FaultError fault_errors[];
#define FAULT_ERRORS 8
