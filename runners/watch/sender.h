/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Send test mails through the MTA and back (lists/site/round_trip.h), one each [watch] interval, and record them and
 * their return (store/hosts/canary.h). The mails take the relay's addresses of IPv4 and IPv6 (families.h) and the
 * slices of out and of in by turns. In time each combination has its turn (turn.h). A mail takes the same slices on its
 * way out and back. Entries that do nothing go through the slices of other queues (queues.h). Without [watch] canary
 * nothing is done.
 */
#include "base/config.h"
#include "lists/site/round_trip.h"
#include "runners/watch/families.h"
#include "runners/watch/queues.h"
#include "runners/watch/turn.h"
#include "switchboard/spool.h"

typedef struct Sender {
    const Config *config;
    Store *store; /* borrowed */
    Spool *spool; /* borrowed */
    RoundTrip trip;
    Turn turn; /* of the next one */
    Families families;
    Queues queues;
    bool ready;      /* the lists of the test mails exist */
    int64_t due;     /* clock_monotonic(): when the next mail is sent */
    int64_t late_at; /* clock_monotonic(): when to look for mails that are late */
} Sender;

void sender_init(Sender *sender, const Config *config, Store *store, Spool *spool);
void sender_clear(Sender *sender);

/* Look for mails and entries that are under way, and send the ones that are due. *wait becomes the time in us after
 * which to call again. */
bool sender_turn(Sender *sender, int64_t *wait, GError **error);
