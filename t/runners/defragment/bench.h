/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Test the runner defragment on a spool and a store of its own. Parts of messages are put into its queue as the runner
 * lmtp does. Then it runs in a child process until it has nothing left to do, or is killed at a chosen moment.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/keys.h"
#include "runners/defragment/defragment.h"
#include "t/switchboard/fixture.h"

#define BENCH_LIST "test.example.com"
#define BENCH_SENDER "anne@example.org"

typedef struct Bench {
    Fixture fixture;
    char *config, *database, *more;
    int64_t arrival; /* time of arrival of the parts that are put next; 0: now */
} Bench;

/* Make the spool, and a store with the list test@example.com, whose setting defragment is on. more: further lines of
 * the configuration. */
void bench_set_up(Bench *bench, const char *more);
void bench_tear_down(Bench *bench);
/* Change a setting of the list. */
void bench_setting(Bench *bench, const char *name, const char *value);

/* Return a part of the message `id`, in wire form; g_free(). total 0: the part does not say how many there are. */
char *bench_part(const char *id, int number, int total, const char *body);

/* Store a part in the queue, as lmtp does. False: the process's file hook made it fail. */
bool bench_put(Bench *bench, Spool *spool, const char *sender, const char *octets);
/* Store a part of BENCH_SENDER, made by bench_part(). */
void bench_send(Bench *bench, const char *id, int number, int total, const char *body);

typedef struct BenchRun {
    unsigned slice, slices;   /* 0, 0: 0 of 1 */
    unsigned kill_at;         /* the number of the moment at which it is killed, from 1; 0: never */
    int refusal;              /* errno of the first file that it creates; 0: none */
    bool (*feed)(void *data); /* called when there is nothing to do; false: the end */
    void *data;
    unsigned *moments; /* out, in shared memory: the most moments there were; may be NULL */
} BenchRun;

/* Run the runner in a child process. True: it came to its end; false: it was killed. Anything else fails the test. */
bool bench_run(const Bench *bench, const BenchRun *run);
/* Run the runner to its end, as slice 0 of 1. */
void bench_work(const Bench *bench);

/* Return the number of files of a queue, in whatever state. */
unsigned bench_count(Bench *bench, const char *queue);
/* Return the only entry of a queue; entry_free(). The test fails when there is none, or several. */
Entry *bench_only(Bench *bench, const char *queue);
/* Return the body of its message; g_free(). */
char *bench_body(Entry *entry);
/* Open one more connection to the store; store_free(). */
Store *bench_store(const Bench *bench);
/* Return the only set of parts in the index (store/posts/fragment.h). */
FragmentSet *bench_set(const Bench *bench);
/* Write into the index that this entry, as the part with that number, joined the only set. */
void bench_join(const Bench *bench, const char *file, int number);

/* Assert that the queue in has the whole message, with that body, and that no part is left. */
void bench_assert_joined(Bench *bench, const char *body);
/* Assert what the index says of the only set. */
void bench_assert_state(const Bench *bench, FragmentState state, bool settled, int64_t parts);
/* Assert that `count` parts wait, and that each is due between `from` and `to`, in microseconds from now. */
void bench_assert_waiting(Bench *bench, unsigned count, int64_t from, int64_t to);
