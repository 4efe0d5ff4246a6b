/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Test the site with a mail that goes out through the mail server (MTA) and comes back, twice. It is sent from the
 * queue `out` to the MTA, which is to hand it in by LMTP to a list made for it. It goes through the queues `in`,
 * `pipeline` and `out` to the MTA again, and by LMTP to a second list, which has no members. If it arrives there, the
 * MTA hands the domain's mail to Listrunner and takes Listrunner's copies, and the runners between the two work.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/work.h"

/* The local parts of the first list: of "listrunner probe", which makes its lists for one mail, and of the canary,
 * whose lists stay. The second list has "-return" behind it. */
#define ROUND_TRIP_PROBE "listrunner-probe"
#define ROUND_TRIP_CANARY "listrunner-canary"
#define ROUND_TRIP_BACK "-return"

/* The addresses of the two lists. */
typedef struct RoundTrip {
    char *list, *back;
} RoundTrip;

/* Return the addresses of the lists `name` and `name`-return in this domain; round_trip_clear(). The store is not
 * asked. */
RoundTrip round_trip_at(const char *name, const char *mail_host);
void round_trip_clear(RoundTrip *trip);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RoundTrip, round_trip_clear)

/* Make both lists, with the second one as the only member of the first. They are not advertised, tell nobody of
 * anything and keep no mail. FAIL_EXISTS: one of them is there. FAIL_MISSING: the domain is not known. */
bool round_trip_make(Work *work, const RoundTrip *trip, GError **error);

/* Remove each of the two lists that is there. FAIL_EXISTS: one is younger than least_age (us). With INT64_MIN the age
 * does not count. */
bool round_trip_drop(Work *work, const RoundTrip *trip, int64_t least_age, GError **error);

/* Make the mail with this Message-ID (without brackets), as a draft for the queue out; the caller stores it. *key
 * (g_free()) is the key for round_trip_arrived(). */
Draft *round_trip_mail(Store *store, const RoundTrip *trip, const char *id, char **key, GError **error);

/* Set *arrived to whether the list at this address, one of the two, has accepted the mail of this key. False: the list
 * is gone or the store failed. */
bool round_trip_arrived(Store *store, const char *address, const char *key, bool *arrived, GError **error);
