/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the index of messages that came in parts (message/partial), until all parts are there and are joined
 * (runners/defragment/README.md). The parts of one message are a set. The parts themselves are entries of the queue
 * `defragment` of one host; the index says which sets there are, on which host each is, and which parts it has. Hosts
 * that share the store share the index.
 *
 * A set's key is 64 hex digits (mail/mime/partial.h), and a part's entry is named by 40. A set that has ended (joined,
 * expired, and so on) is remembered until fragment_forget(), so that parts that come late, or again after a crash, are
 * known. Times are microseconds since 1970; octets are numbers of bytes.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

#define FRAGMENT_KEY_DIGITS 64
/* For how long the operator is told of sets that expired early (fragment_count_early()); microseconds. */
#define FRAGMENT_EARLY_TOLD (3600 * INT64_C(1000000))

typedef enum FragmentState {
    FRAGMENT_OPEN,        /* parts are missing */
    FRAGMENT_JOINED,      /* the entry joined_by joins the parts; with `settled` that is committed */
    FRAGMENT_QUARANTINED, /* never to be joined; reason says why */
    FRAGMENT_EXPIRED,     /* not all parts came in time; with a reason: it was ended early to make room */
    FRAGMENT_RELEASED,    /* an operator lets the parts pass as they are, not joined */
    FRAGMENT_DROPPED,     /* an operator had the parts thrown away */
} FragmentState;
const char *fragment_state_text(FragmentState state); /* "open", static */

typedef struct FragmentSet {
    char *key, *list_id, *sender, *id, *host;
    FragmentState state;
    bool settled;
    int64_t total;         /* how many parts the message has; 0: no part has said yet */
    int64_t parts, octets; /* of the parts that are known */
    int64_t opened_at, expires_at, ended_at;
    char *joined_by; /* the entry (a part of the set) that joins the parts; NULL: none */
    char *reason;    /* why the set has this state; NULL: nothing is said */
} FragmentSet;
void fragment_set_free(FragmentSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FragmentSet, fragment_set_free)

typedef struct FragmentPart {
    int64_t number, octets;
    char *entry, *digest;
} FragmentPart;
void fragment_part_free(FragmentPart *part);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FragmentPart, fragment_part_free)

/* Find a set by its key; fragment_set_free(). This and the other fragment_find functions return NULL with FAIL_MISSING
 * where there is none. */
FragmentSet *fragment_find(Store *store, const char *key, GError **error);
/* Find the set of which entry is a part. */
FragmentSet *fragment_find_entry(Store *store, const char *entry, GError **error);
/* Find the one set whose key begins with prefix, as people write it. FAIL_NEVER: several sets do, or prefix is too
 * short or not in hex digits. */
FragmentSet *fragment_find_prefix(Store *store, const char *prefix, GError **error);
/* Find the open set of a sender that was opened first. */
FragmentSet *fragment_find_oldest(Store *store, const char *sender, GError **error);
/* Find the open set to give up when a list (host is NULL) or a host (list_id is NULL) has too many: the first opened of
 * the sender who has the most open sets there. The sender newcomer counts with one set more, since one is about to be
 * opened. Among senders with equally many, the one with the oldest set is taken. */
FragmentSet *fragment_find_heaviest(Store *store, const char *list_id, const char *host, const char *newcomer,
                                    GError **error);
/* Find the part of a set with this number; fragment_part_free(). */
FragmentPart *fragment_find_part(Store *store, const char *key, int64_t number, GError **error);
GPtrArray *fragment_parts(Store *store, const char *key, GError **error); /* of FragmentPart, by number; owned */

/* Open a set without parts: key, list_id, sender, id, host, opened_at, expires_at of *set are read. FAIL_EXISTS: there
 * is a set with this key. sender and id that are not UTF-8 are kept with replacement characters. */
bool fragment_open(Store *store, const FragmentSet *set, GError **error);
/* Add a part. total becomes the set's unless the set has one already; 0: the part does not say. FAIL_EXISTS: the set
 * has a part of that number, or some set has that entry. */
bool fragment_add(Store *store, const char *key, const FragmentPart *part, int64_t total, GError **error);
/* Take a part whose entry is lost out of the set; number, octets and entry of *part are read. True also where it is not
 * there. */
bool fragment_remove(Store *store, const char *key, const FragmentPart *part, GError **error);
/* The end of a set. With state FRAGMENT_OPEN the set is opened again, and time is not read. joined_by and reason may be
 * NULL. */
typedef struct FragmentEnd {
    FragmentState state;
    int64_t time;
    const char *joined_by, *reason;
} FragmentEnd;
/* End the set as *end says. FAIL_MISSING: there is no set with this key. */
bool fragment_end(Store *store, const char *key, const FragmentEnd *end, GError **error);
/* Note that an entry leaves the queue. Where it is the joined_by of a set that is joined and not settled, the set is
 * opened again without that part, and *reopened is true. Where it is a part of an open set, it is taken out if `gone`
 * says that it will not come back. In all other cases, also for an entry that is no part, nothing changes. */
bool fragment_withdraw(Store *store, const char *entry, bool gone, bool *reopened, GError **error);
/* Note that the joined message is committed to its queue, so that the set is not opened again. */
bool fragment_settle(Store *store, const char *key, GError **error);
/* Remove the sets that ended before this time, and open sets whose expires_at is before it, since their entries are
 * gone. It does so in many short transactions, so call it outside of one. */
bool fragment_forget(Store *store, int64_t before, GError **error);

/* Call each for the sets that meet choice, in order of key. each must not write to the store; it returns false to stop,
 * and fragment_each() then returns true. */
typedef struct FragmentChoice {
    const char *list_id, *host; /* NULL: all */
    bool every_state;           /* else only those in state */
    FragmentState state;
} FragmentChoice;
typedef bool FragmentEach(const FragmentSet *set, void *data);
bool fragment_each(Store *store, const FragmentChoice *choice, FragmentEach *each, void *data, GError **error);

/* Call each as fragment_each() does, for the sets of a host that are joined and not settled. */
bool fragment_each_unsettled(Store *store, const char *host, FragmentEach *each, void *data, GError **error);

/* The open sets of a host: how many there are, and how many parts and bytes they have. */
typedef struct FragmentCount {
    int64_t sets, parts, octets;
    int64_t oldest; /* when the first was opened; 0: none */
} FragmentCount;
/* Count the open sets of a host (NULL: of all hosts). The sums are kept in a row, so that asking for them is cheap. */
bool fragment_count(Store *store, const char *host, FragmentCount *count, GError **error);
/* Set *sets to the number of open sets of a list, or of a sender; counting stops at limit. */
bool fragment_count_list(Store *store, const char *list_id, int64_t limit, int64_t *sets, GError **error);
bool fragment_count_sender(Store *store, const char *sender, int64_t limit, int64_t *sets, GError **error);
/* Count the sets of a host (NULL: of all) that ended since this time as FRAGMENT_EXPIRED with a reason: early, to make
 * room for others. */
bool fragment_count_early(Store *store, const char *host, int64_t since, int64_t *sets, GError **error);
