/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The index of the parts of messages that wait for one another (DESIGN 8,
 * runners/defragment/README.md). The parts themselves are entries of the queue
 * `defragment` of one host; the index says which sets there are, on which
 * host each is, and which of its parts. Hosts that share the store share it.
 *
 * A set's key is 64 hex digits (mail/partial.h), a part's entry 40. An ended set is
 * remembered, so that parts that come late, or again after a crash, are known.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

#define FRAGMENT_KEY_DIGITS 64
/* Sets that expired early are told to the operator for so long; microseconds. */
#define FRAGMENT_EARLY_TOLD (3600 * INT64_C(1000000))

typedef enum FragmentState {
    FRAGMENT_OPEN,        /* parts are missing */
    FRAGMENT_JOINED,      /* joined by the entry joined_by; settled: and that is sure */
    FRAGMENT_QUARANTINED, /* never to be joined, reason says why */
    FRAGMENT_EXPIRED,
    FRAGMENT_RELEASED, /* an operator lets its parts pass as they are */
    FRAGMENT_DROPPED,  /* an operator had them thrown away */
} FragmentState;
const char *fragment_state_text(FragmentState state);

typedef struct FragmentSet {
    char *key, *list_id, *sender, *id, *host;
    FragmentState state;
    bool settled;
    int64_t total;         /* 0: no part has said */
    int64_t parts, octets; /* that are known */
    int64_t opened_at, expires_at, ended_at;
    char *joined_by; /* entry, or NULL */
    char *reason;    /* or NULL */
} FragmentSet;
void fragment_set_free(FragmentSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FragmentSet, fragment_set_free)

typedef struct FragmentPart {
    int64_t number, octets;
    char *entry, *digest;
} FragmentPart;
void fragment_part_free(FragmentPart *part);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FragmentPart, fragment_part_free)

/* FAIL_MISSING when there is none; also for the others that find one. */
FragmentSet *fragment_find(Store *store, const char *key, GError **error);
/* The set of which entry is a part. */
FragmentSet *fragment_find_entry(Store *store, const char *entry, GError **error);
/* The one set whose key begins so, for people. FAIL_NEVER: there are several, or none can be called so. */
FragmentSet *fragment_find_prefix(Store *store, const char *prefix, GError **error);
/* The open set of a sender that was opened first. */
FragmentSet *fragment_find_oldest(Store *store, const char *sender, GError **error);
/* Of the sender that has the most open sets of a list (host is NULL), or of a host (list_id is NULL), once newcomer has
 * one more: the set that was opened first. Of senders that have the same number, the one with the oldest set counts. */
FragmentSet *fragment_find_heaviest(Store *store, const char *list_id, const char *host, const char *newcomer,
                                    GError **error);
FragmentPart *fragment_find_part(Store *store, const char *key, int64_t number, GError **error);
GPtrArray *fragment_parts(Store *store, const char *key, GError **error); /* of FragmentPart, by number; owned */

/* Open a set: key, list_id, sender, id, host, opened_at, expires_at are read. FAIL_EXISTS: there is one. Text that
 * is not UTF-8 is kept with replacement characters; the key tells. */
bool fragment_open(Store *store, const FragmentSet *set, GError **error);
/* Add a part; total 0 leaves the set's as it is. FAIL_EXISTS: there is one with that number or entry. */
bool fragment_add(Store *store, const char *key, const FragmentPart *part, int64_t total, GError **error);
/* Its entry is lost: takes it out of the set. */
bool fragment_remove(Store *store, const char *key, const FragmentPart *part, GError **error);
/* How a set ends, or (FRAGMENT_OPEN, time is not read) is open again. joined_by and reason may be NULL. */
typedef struct FragmentEnd {
    FragmentState state;
    int64_t time;
    const char *joined_by, *reason;
} FragmentEnd;
bool fragment_end(Store *store, const char *key, const FragmentEnd *end, GError **error);
/* The entry leaves the queue: the set that it was to join is open again (*reopened), without it. One of an open set is
 * taken out when it is gone for good. Other sets, and an entry that is no part, stay as they are. */
bool fragment_withdraw(Store *store, const char *entry, bool gone, bool *reopened, GError **error);
bool fragment_settle(Store *store, const char *key, GError **error);
/* Drop what ended before a time, and open sets that expired before it (their entries are gone); at most limit of each
 * in a transaction of its own. */
bool fragment_forget(Store *store, int64_t before, GError **error);

/* Call each for the chosen sets, by key, until it returns false; it must not write. */
typedef struct FragmentChoice {
    const char *list_id, *host; /* NULL: all */
    bool every_state;           /* else only those in state */
    FragmentState state;
} FragmentChoice;
typedef bool FragmentEach(const FragmentSet *set, void *data);
bool fragment_each(Store *store, const FragmentChoice *choice, FragmentEach *each, void *data, GError **error);

/* The same for the joined sets of a host that are not settled. */
bool fragment_each_unsettled(Store *store, const char *host, FragmentEach *each, void *data, GError **error);

/* The numbers of open sets and of their bytes. They are kept, not counted when asked for. */
typedef struct FragmentCount {
    int64_t sets, parts, octets;
    int64_t oldest; /* when the first was opened; 0: none */
} FragmentCount;
bool fragment_count(Store *store, const char *host, FragmentCount *count, GError **error);
/* Open sets of a list, and of a sender, counted up to limit. */
bool fragment_count_list(Store *store, const char *list_id, int64_t limit, int64_t *sets, GError **error);
bool fragment_count_sender(Store *store, const char *sender, int64_t limit, int64_t *sets, GError **error);
/* The sets of a host (NULL: of all) that expired since a time with a reason: before their time, to make room. */
bool fragment_count_early(Store *store, const char *host, int64_t since, int64_t *sets, GError **error);
