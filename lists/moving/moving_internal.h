/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Share the import's state and its transactions among the files that implement moving.h. */
#include "lists/moving/moving.h"

struct Moving {
    MovingSite site;
    Actor actor;
    char *source;
    MovingCount counts[MOVING_KINDS], committed[MOVING_KINDS];
    uint64_t notes[MOVING_NOTES];
    GHashTable *of_site; /* of moving_may_site(): uint64_t counts by kind, of those that are only counted */
    uint64_t rows;        /* gone through */
    GHashTable *domains;  /* own_address_domains(); NULL: not asked yet */
    Work *work;           /* the transaction; NULL: none is open */
    unsigned rows_in_unit;
    int64_t commit_at; /* clock_monotonic() */
    char *part, *list_id; /* that is under way, or NULL */
    uint64_t came[ROLE_NONMEMBER + 1]; /* members of list_id, by role, whom its log does not have yet */
    MovingWay way;
};

/* Return the site's store where moving->site.store is only for a trial: what is known there counts as there before, and
 * refuses what it would refuse. NULL: this is no trial, or there is no other store. */
Store *moving_trial_of(const Moving *moving);

/* Return the open unit of work, and begin one if none is open; it belongs to moving. NULL: the store failed. */
Work *moving_work(Moving *moving, GError **error);
/* Count one more row, and report progress. In a part that is MOVING_IN_PORTIONS it also commits now and then. */
bool moving_step(Moving *moving, GError **error);

/* Write into the list's log how many members came to the list under way. */
bool moving_log_came(Moving *moving, GError **error);

/* A thing that was brought in or refused, for counts and the report. */
typedef struct MovingThing {
    MovingKind kind;
    const char *place, *key;
} MovingThing;

/* Begin a change that may be refused after it has written something: sets a savepoint, and *work to the open unit. End
 * it by moving_settle(), which undoes what a refused change wrote. */
bool moving_try(Moving *moving, Work **work, GError **error);
/* End a change, count it, and report it if it was refused. done: the change was made; else refusal, which is freed
 * here, says why not. FAIL_EXISTS counts as there before. *in (may be NULL) is set to done. False: the import must end.
 */
bool moving_settle(Moving *moving, bool done, GError *refusal, const MovingThing *thing, bool *in, GError **error);
/* Count and report as moving_settle() does, without moving_try() before: for a change that is refused before it writes
 * anything, and so needs no savepoint. */
bool moving_judge(Moving *moving, bool done, GError *refusal, const MovingThing *thing, bool *in, GError **error);

/* May a thing of the site be imported: an owner of the site or of a domain, an alias, a token, a ban, a text or a
 * setting that a list's token may not write, what a user has beside memberships? kind is a word for the report, key the
 * thing's name, or NULL where there are so many that they are only counted. False: it is withheld, and counted. */
bool moving_may_site(Moving *moving, const char *kind, const char *key);
/* Return the facts of a request (lists/people/subscription.h) that may be imported: who has a list may vouch for
 * somebody on this list alone, and a token that was made elsewhere proves no address to the site. */
unsigned moving_facts(const Moving *moving, unsigned facts);
/* Make the address known that a member's row is to have, if the list may have it as one. FAIL_NEVER: it may not. */
bool moving_member_address(Moving *moving, const char *list_id, Role role, const char *address, GError **error);
/* Return the metadata of a post of the list that came to it, as the runner in writes them; g_free(). */
char *moving_post_meta(const List *list, const char *message_id, const char *sender);
