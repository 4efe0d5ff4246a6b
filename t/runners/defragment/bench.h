/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The defragment runner on a spool and a store of its own: parts are put into its queue as lmtp does, it is run
 * in a child process until it has nothing left to do, or is killed at a chosen moment.
 */
#include <glib.h>
#include <stdbool.h>

#include "runners/defragment/defragment.h"
#include "runners/keys.h"
#include "t/switchboard/fixture.h"

#define BENCH_LIST "test.example.com"
#define BENCH_SENDER "anne@example.org"

typedef struct Bench {
    Fixture fixture;
    char *config, *database, *more;
    int64_t arrival; /* not 0: that of the parts put */
} Bench;

/* The list's setting defragment is on. more: lines of the configuration. */
void bench_set_up(Bench *bench, const char *more);
void bench_tear_down(Bench *bench);
void bench_setting(Bench *bench, const char *name, const char *value);

/* Part number of total (0: unsaid) of the message id with that body, in wire form; g_free(). */
char *bench_part(const char *id, int number, int total, const char *body);

/* As lmtp stores it. False when the process's file hook made it fail. */
bool bench_put(Bench *bench, Spool *spool, const char *sender, const char *octets);
/* bench_part() and bench_put() by BENCH_SENDER. */
void bench_send(Bench *bench, const char *id, int number, int total, const char *body);

typedef struct BenchRun {
    unsigned slice, slices;   /* 0, 0: 0 of 1 */
    unsigned kill_at;         /* the moment, from 1; 0: never */
    int refusal;              /* errno of the first file that it creates; 0: none */
    bool (*feed)(void *data); /* called when there is nothing to do; false: the end */
    void *data;
    unsigned *moments; /* out, in shared memory: the most moments there were; may be NULL */
} BenchRun;

/* Runs it. True: it came to its end; false: it was killed. Anything else fails the test. */
bool bench_run(const Bench *bench, const BenchRun *run);
/* To its end, as slice 0 of 1. */
void bench_work(const Bench *bench);

unsigned bench_count(Bench *bench, const char *queue);
/* The only entry of a queue; the test fails when there is none, or several. */
Entry *bench_only(Bench *bench, const char *queue);
char *bench_message(Entry *entry); /* g_free() */
char *bench_body(Entry *entry);
Store *bench_store(const Bench *bench);
/* The only set in the index. */
FragmentSet *bench_set(const Bench *bench);
/* Writes into the index that this entry, as the part with that number, joined the only set. */
void bench_join(const Bench *bench, const char *file, int number);

/* Only the whole, with that body, is there, in the queue in. */
void bench_assert_joined(Bench *bench, const char *body);
/* Of the only set. */
void bench_assert_state(const Bench *bench, FragmentState state, bool settled, int64_t parts);
/* How many wait, and that all do so until about then: microseconds from now. */
void bench_assert_waiting(Bench *bench, unsigned count, int64_t from, int64_t to);
