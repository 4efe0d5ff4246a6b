/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Shared by the files of moving.h. */
#include "lists/moving/moving.h"

struct Moving {
    MovingSite site;
    Actor actor;
    char *source;
    MovingCount counts[MOVING_KINDS];
    uint64_t notes[MOVING_CHANGED + 1];
    uint64_t rows;        /* gone through */
    GHashTable *domains;  /* own_address_domains(); NULL: not asked yet */
    Work *work;           /* the transaction; NULL: none is open */
    unsigned rows_in_unit;
    int64_t commit_at; /* clock_monotonic() */
    char *part, *list_id; /* that is under way, or NULL */
    uint64_t came[ROLE_NONMEMBER + 1]; /* members of list_id, by role, whom its log does not have yet */
    MovingWay way;
};

/* The open unit, begun where there is none. NULL with error. */
Work *moving_work(Moving *moving, GError **error);
/* One row more was gone through; commits now and then where the part is in portions. */
bool moving_step(Moving *moving, GError **error);
bool moving_commit(Moving *moving, GError **error);

/* Write into the list's log how many members came to the list under way. */
bool moving_log_came(Moving *moving, GError **error);

/* A thing that was brought in or refused, for counts and the report. */
typedef struct MovingThing {
    MovingKind kind;
    const char *place, *key;
} MovingThing;

/* A change that may be refused after it wrote: begin, then settle. What was refused is undone and told. */
bool moving_try(Moving *moving, Work **work, GError **error);
/* done: it is in. refusal is taken. *in (may be NULL): whether it is. False: the import must end. */
bool moving_settle(Moving *moving, bool done, GError *refusal, const MovingThing *thing, bool *in, GError **error);
/* The same for what was refused before anything was written, so that no savepoint is needed. */
bool moving_judge(Moving *moving, bool done, GError *refusal, const MovingThing *thing, bool *in, GError **error);
