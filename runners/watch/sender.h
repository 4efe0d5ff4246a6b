/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Sends mails through the MTA and back (lists/round_trip.h), one each [watch] interval, and records them and their
 * return (store/canary.h). They take the relay's addresses of IPv4 and IPv6 by turns (families.h), and the slices of
 * out and of in, so that in time each combination of these has its turn (turn.h). Both legs of a mail take the same
 * slices. Entries that do nothing go through the slices of other queues (queues.h). Without [watch] canary it does
 * nothing.
 */
#include "base/config.h"
#include "lists/round_trip.h"
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
    bool ready;      /* the lists are there */
    int64_t due;     /* clock_monotonic(): of the next */
    int64_t late_at; /* clock_monotonic(): when to look for those that should be back for long */
} Sender;

void sender_init(Sender *sender, const Config *config, Store *store, Spool *spool);
void sender_clear(Sender *sender);

/* Look for what is under way, and send what is due. *wait becomes the time until it has something to do, in us. */
bool sender_turn(Sender *sender, int64_t *wait, GError **error);
