/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Record of the mails that a host sends to itself through the MTA (runners/watch): one row for each slice that they go
 * through in turn. Times are microseconds since 1970. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct Canary {
    int64_t slice;
    char *mail;            /* the last one, as lists record its Message-ID (lists/round_trip.h) */
    int64_t sent_at;       /* of the last one */
    int64_t back_at;       /* when one came back last; 0: none did yet */
    int64_t missing_since; /* when the first one was sent that did not come back since back_at; 0: it came back */
} Canary;

void canary_free(Canary *canary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Canary, canary_free)

/* A mail was sent through the slice. */
bool canary_sent(Store *store, const char *host, int64_t slice, const char *mail, int64_t now, GError **error);

/* The last mail through the slice came back. */
bool canary_back(Store *store, const char *host, int64_t slice, int64_t now, GError **error);

/* Return the canaries of the host by slice, of Canary, freed with the array. */
GPtrArray *canary_all(Store *store, const char *host, GError **error);

/* Forget those of the host from this slice on; 0: all. */
bool canary_forget(Store *store, const char *host, int64_t slices, GError **error);
