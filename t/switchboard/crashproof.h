/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The proof of one script, as crash_states-t makes it: its states (crashproof.c), and what becomes of them when the
 * script is changed (crashmutate.c).
 */
#include "t/switchboard/crashlog.h"
#include "t/switchboard/crashworld.h"

typedef struct Script {
    const char *name;
    void (*run)(CrashWorld *world);
    unsigned deep; /* of the distinct states, every so many has its recovery cut short as well (with -m thorough) */
} Script;

/* The drains made so far, by state. */
typedef struct Proof {
    const Script *script;
    CrashWorld *world;
    CrashLog *log;
    GHashTable *results;  /* of CrashResult */
    GHashTable *outcomes; /* hash of what may come of it -> GArray: at which moments */
    CrashMutation changed; /* that is compared */
    unsigned fresh, other; /* states of a changed log that the log as it is does not lead to; with other outcomes */
    unsigned deep, second; /* states that had a second cut; those after it */
    unsigned after_kill;   /* states after a kill and what went on from it */
    char *violation;
    unsigned states;       /* with what was promised then */
} Proof;

void crashproof_init(Proof *proof, const Script *script, CrashWorld *world, CrashLog *log);
void crashproof_clear(Proof *proof);

/* All states of the log as it is, some with a second cut; and after kills. The first violation ends it. */
void crashproof_all(Proof *proof);

/* One of so many states, once. */
void crashproof_sampled(Proof *proof);

/* For changed logs. All its states, judged: false when it makes none that differ. */
bool crashproof_changed(Proof *proof, CrashMutation mutation);

/* Of a changed log without a violation, counts in fresh and other. */
void crashproof_compare(Proof *proof, CrashMutation mutation);

/* All processes are killed after so many steps of the log, and others go on from what these have not yet synced. */
void crashproof_killed(Proof *proof, CrashMutation mutation, guint upto);

void crashproof_print_steps(const CrashLog *log);

/* Leaves out each sync, and lets steps change places (crashmutate.c); fails the test where nothing comes of it that
 * ought to. */
void crashmutate_all(Proof *proof);

/* The findings of crashmutate_all() about syncs, handed from the process of a script to the one that judges all: the
 * first prints a line each, the second reads them. */
#define CRASHMUTATE_NEED "need\t"
void crashmutate_print_needs(void);
void crashmutate_read_need(const char *line);

/* After all scripts: fails the test for a place that syncs and that no script needs. */
void crashmutate_every_sync(void);

/* A test program of scripts, each in a new world: one test a script, and then that every sync is needed. What is
 * called before and after may be NULL. */
typedef struct CrashProgram {
    const char *path; /* of the tests */
    const Script *scripts;
    size_t count;
    void (*set_up)(CrashWorld *world);
    void (*tear_down)(CrashWorld *world);
    void (*add_tests)(void); /* of its own, or NULL */
} CrashProgram;

int crashproof_main(int argc, char **argv, const CrashProgram *program);
