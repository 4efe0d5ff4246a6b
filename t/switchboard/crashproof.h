/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Prove that a power cut at any moment of a script breaks no promise. A script makes changes in a spool. The states of
 * the disk that a cut may leave (crashlog.h) are each drained by all runners and judged (crashproof.c). Then the script
 * is changed, such as by leaving out a sync, which must break a promise: else the sync is not needed (crashmutate.c).
 */
#include "t/switchboard/crashlog.h"
#include "t/switchboard/crashworld.h"

typedef struct Script {
    const char *name;
    void (*run)(CrashWorld *world);
    unsigned deep; /* each deep-th distinct state has a second power cut while it recovers (with -m thorough) */
} Script;

/* The proof of one script, with the results of the drains made so far. */
typedef struct Proof {
    const Script *script;
    CrashWorld *world;
    CrashLog *log;
    GHashTable *results;   /* of CrashResult, by the state */
    GHashTable *outcomes;  /* hash of an outcome -> GArray of the moments at which it may come */
    CrashMutation changed; /* the change that is compared with the log as it is */
    unsigned fresh, other; /* states of a changed log alone, and those of them with other outcomes */
    unsigned deep, second; /* states that had a second cut, and states after it */
    unsigned after_kill;   /* states of processes that went on after a kill */
    char *violation;       /* the first broken promise; NULL: none */
    unsigned states;       /* states looked at, each with its promises */
} Proof;

void crashproof_init(Proof *proof, const Script *script, CrashWorld *world, CrashLog *log);
void crashproof_clear(Proof *proof);

/* Judge all states of the log as it is, some with a second cut, and states after kills. The first violation ends it. */
void crashproof_all(Proof *proof);

/* Judge a sample of the states of the log as it is, without second cuts. */
void crashproof_sampled(Proof *proof);

/* Judge all states of the changed log, until proof->violation is set. False: the change makes no state that differs. */
bool crashproof_changed(Proof *proof, CrashMutation mutation);

/* Count in fresh and other how a changed log without a violation differs. */
void crashproof_compare(Proof *proof, CrashMutation mutation);

/* Judge the states after a kill: all processes are killed after `upto` operations of the changed log, and others go on
 * from there before anything more is synced. */
void crashproof_killed(Proof *proof, CrashMutation mutation, guint upto);

/* Print the operations of a log, for people. */
void crashproof_print_steps(const CrashLog *log);

/* Leave out each sync, and let operations change places (crashmutate.c). Fail the test where that should break a
 * promise and does not. */
void crashmutate_all(Proof *proof);

/* Print the findings of crashmutate_all() about syncs, a line each, in the process of one script. */
#define CRASHMUTATE_NEED "need\t" /* the beginning of such a line */
void crashmutate_print_needs(void);
/* Read such a line in the process that judges the findings of all scripts. */
void crashmutate_read_need(const char *line);

/* After all scripts: fail the test for a place in the code that syncs although no script needs it. */
void crashmutate_every_sync(void);

/* A test program of scripts, each in a new world: one test a script, and then one that every sync is needed. set_up and
 * tear_down are called before and after each script, and may be NULL. */
typedef struct CrashProgram {
    const char *path; /* of the tests */
    const Script *scripts;
    size_t count;
    void (*set_up)(CrashWorld *world);
    void (*tear_down)(CrashWorld *world);
    void (*add_tests)(void); /* of its own, or NULL */
} CrashProgram;

/* Run the program, and return main()'s result. */
int crashproof_main(int argc, char **argv, const CrashProgram *program);
