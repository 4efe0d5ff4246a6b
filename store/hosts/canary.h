/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Record the canary of a host: the mail that it sends to itself through its MTA, to see that mail goes out and comes in
 * (runners/watch). There is one row a host, with the last mail sent and when one came back last. Times are microseconds
 * since 1970. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct Canary {
    char *mail;            /* the last mail, as lists record it (lists/site/round_trip.h); NULL: none was sent */
    int64_t sent_at;       /* when it was sent */
    int64_t back_at;       /* when a mail came back last; 0: none did yet */
    int64_t missing_since; /* when the first mail was sent after which none came back; 0: none is missing */
} Canary;
void canary_clear(Canary *canary);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Canary, canary_clear)

/* Fill *canary with the row of the host, which the caller clears; all is 0 where there is none. */
bool canary_read(Store *store, const char *host, Canary *canary, GError **error);

/* Note that a mail was sent; it counts as missing until canary_back(). */
bool canary_sent(Store *store, const char *host, const char *mail, int64_t now, GError **error);

/* Note that the last mail came back, so that none is missing. */
bool canary_back(Store *store, const char *host, int64_t now, GError **error);

/* Forget the host's row. */
bool canary_forget(Store *store, const char *host, GError **error);
