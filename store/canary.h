/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Record of the mails that a host sends to itself through the MTA (runners/watch): one row for each way that they take
 * in turn. lists/canary_state.h says what follows from all of them. Times are microseconds since 1970. Errors are those
 * of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* The way that a mail takes. An entry that is put into another queue, to see that its slices are worked, has a way,
 * too: the family is CANARY_QUEUE and the queue's name, out is the slice, in is 0. */
typedef struct CanaryWay {
    const char *family; /* the kind of address of the relay: "ipv4", "ipv6"; "": whichever it has */
    int64_t out, in;    /* the slices of these queues */
} CanaryWay;

#define CANARY_QUEUE "queue "

typedef struct Canary {
    char *family;
    int64_t out, in;
    char *mail;            /* the last one, as lists record its Message-ID (lists/round_trip.h), or the entry's name */
    int64_t sent_at;       /* of the last one */
    int64_t back_at;       /* when one came back last; 0: none did yet */
    int64_t missing_since; /* when the first one was sent that did not come back since back_at; 0: it came back */
} Canary;

void canary_free(Canary *canary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Canary, canary_free)

/* A mail was sent this way. */
bool canary_sent(Store *store, const char *host, const CanaryWay *way, const char *mail, int64_t now, GError **error);

/* The last mail that went this way came back. */
bool canary_back(Store *store, const char *host, const CanaryWay *way, int64_t now, GError **error);

/* Return all ways of the host by family and slices, of Canary, freed with the array. */
GPtrArray *canary_all(Store *store, const char *host, GError **error);

/* The queue of an entry's way; NULL: it is the way of a mail. Borrowed. */
const char *canary_queue(const Canary *canary);

/* Do not wait any longer for mails that are missing since after this time. */
bool canary_excuse(Store *store, const char *host, int64_t after, GError **error);

/* Forget one way. */
bool canary_forget_way(Store *store, const char *host, const CanaryWay *way, GError **error);

/* Forget the ways of mails through slices of out and of in from these numbers on; 0 and 0: all, also of entries. */
bool canary_forget(Store *store, const char *host, int64_t outs, int64_t ins, GError **error);

/* Forget the ways of mails by all families but these two, which may be the same. */
bool canary_keep_families(Store *store, const char *host, const char *one, const char *other, GError **error);
