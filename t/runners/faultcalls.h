/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * System calls that fail on purpose. The linker gives our objects these in
 * place of the system's (-Wl,--wrap, see FAULT_WRAP in runners/Makefile.inc), so what fails
 * is what the product calls, with the loops around it: a hook in base/fs.h
 * could not show that EINTR and short writes are unseen.
 *
 * Only calls on the spool are counted: its files and directories, by
 * descriptor. Helper threads are none: groups are synced in order.
 */
#include <glib.h>
#include <limits.h>
#include <stdbool.h>

#define FAULT_SHORT (-1) /* in place of an errno: the call takes less than it could */
#define FAULT_LASTING UINT_MAX

typedef struct FaultPlan {
    unsigned at; /* the first call from this one on (from 1) that can have the error has it; 0: none */
    int error;   /* errno, or FAULT_SHORT */
    unsigned times; /* so many calls that can have it, one after another; FAULT_LASTING: all from then on */
    const char *under; /* only calls on paths that begin so are counted; NULL: on any file or directory */
    const char *only;  /* only calls whose name matches this pattern are counted; NULL: any */
    unsigned allocation; /* this one (from 1) and all after it find no memory; 0: none */
    bool alone; /* or only this one */
} FaultPlan;

/* Shared with whom waits for the process. */
typedef struct FaultReport {
    unsigned calls, injected, hit; /* hit: the number of the first that failed */
    unsigned allocations;
    char call[200]; /* the first that failed: "fsync in", "renameat2 in/NAME.msg" */
} FaultReport;

/* Counts an allocation; false when there is no memory left. */
bool faults_may_allocate(void);

void faults_begin(const FaultPlan *plan, FaultReport *report);

/* The errors that are tried. */
typedef struct FaultError {
    int error;
    const char *name;
} FaultError;
extern const FaultError fault_errors[];
#define FAULT_ERRORS 8
