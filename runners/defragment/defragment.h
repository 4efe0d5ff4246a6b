/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the files of the runner defragment share. The runner puts the parts of a message (message/partial)
 * together. README.md says how; the numbers D1, F2, P3 in the comments are those of its tables. A set is all parts of
 * one message, and the index (store/posts/fragment.h) knows the sets.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mail/message.h"
#include "mail/mime/partial.h"
#include "posting/list_cache.h"
#include "runners/posts/runner_seat.h"
#include "runners/runner.h"
#include "store/posts/fragment.h"
#include "store/store.h"

#define DEFRAGMENT_QUEUE "defragment"
#define DEFRAGMENT_RETRY (60 * G_GINT64_CONSTANT(1000000)) /* P3 */

typedef struct Defragment {
    Runner *runner;
    Seat seat;
    Store *store; /* the seat's */
    ListCache *lists;
    const char *host; /* our own name */
    int64_t max_parts, max_size, sets_per_sender, sets_per_list, sets_per_host, max_waiting;
    int64_t notices; /* days */
    FragmentCount waiting; /* what waits on this host, counted once a batch */
    bool counted; /* waiting was counted in this batch */
    bool looked;  /* the runner has looked for unknown parts in this batch */
    GPtrArray *given_up; /* of FragmentSet: ended in this batch, whose parts are to be woken */
    GPtrArray *joins;    /* of Join: made in this batch, or not settled yet */
    int64_t forget_at; /* monotonic */
} Defragment;

/* A join whose commit is awaited. */
typedef struct Join {
    char *key;
    Outcome *outcome; /* NULL: the batch is over */
    bool committed;   /* when the batch is over: the hop was committed, so the whole message is on its way */
} Join;

/* One part in hand. */
typedef struct Part {
    Defragment *own;
    Entry *entry;
    Outcome *outcome;
    const List *list;
    const char *sender;
    Message *message;
    Partial partial;
    char *key, *digest;
    char name[HASH_DIGITS + 1];
    int64_t now, deadline; /* when its own retention is over */
} Part;

/* The runner, declared for tests, which run it with hooks of their own. */
extern const RunnerSpec defragment_spec;

/* part.c: handle one part: find its set in the index, and let it wait, join the set, or send it on. */
bool part_handle(Defragment *own, Entry *entry, Outcome *outcome, GError **error);

/* defragment.c: wake all parts of the set that wait: they are handled now. */
bool settle_wake(Defragment *own, const FragmentSet *set, GError **error);
