/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The files of this runner share these. README.md says what happens; the numbers D1, F2, P3 in the comments are those
 * of its tables.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mail/message.h"
#include "mail/partial.h"
#include "posting/list_cache.h"
#include "runners/runner.h"
#include "store/fragment.h"
#include "store/store.h"

#define DEFRAGMENT_QUEUE "defragment"
#define DEFRAGMENT_RETRY (60 * G_GINT64_CONSTANT(1000000)) /* P3 */

typedef struct Defragment {
    Runner *runner;
    Store *store;
    ListCache *lists;
    const char *host; /* our own name */
    int64_t max_parts, max_size, sets_per_sender, sets_per_list, sets_per_host, max_waiting;
    int64_t notices; /* days */
    FragmentCount waiting; /* of this host, for this batch */
    bool counted;
    bool looked; /* for parts that the index does not know, in this batch */
    GPtrArray *given_up; /* of FragmentSet: ended in this batch, whose parts are to be woken */
    GPtrArray *joins;    /* of Join: made in this batch, or committed and not settled yet */
    int64_t forget_at; /* monotonic */
} Defragment;

/* A join whose commit is awaited. */
typedef struct Join {
    char *key;
    Outcome *outcome; /* NULL: the batch is over */
    bool committed;   /* then: its entry is no more, for the whole */
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

/* For the tests, which run it with hooks of their own. */
extern const RunnerSpec defragment_spec;

/* part.c: a part meets its set. */
bool part_handle(Defragment *own, Entry *entry, Outcome *outcome, GError **error);
void part_log(const Part *part, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* join.c: D4. *done is false when a part turned out to be lost, and the set is open. */
bool join_set(Part *part, const FragmentSet *set, bool *done, GError **error);

/* settle.c: D5, and what a start finds. */
void settle_batch(Defragment *own);
bool settle_joins(Defragment *own, GError **error);
bool settle_start(Defragment *own, GError **error);
/* Parts that wait and that the index does not know, as those of a list that was removed, are handled now. Once a
 * batch: own->looked. */
bool settle_unknown(Defragment *own, GError **error);
/* After the commit: the parts of what was given up in this batch are looked at again, in whatever slice they are. */
void settle_given_up(Defragment *own);
/* All parts of the set that wait are handled now. */
bool settle_wake(Defragment *own, const FragmentSet *set, GError **error);
