/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Send a test mail through the MTA and back (lists/site/round_trip.h) each [watch] interval, and record it and its
 * return (store/hosts/canary.h). One mail is under way at a time; the next one goes when it is back, or when it is
 * missing for [watch] patience. Without [watch] canary nothing is done.
 *
 * A mail that is missing tells that the way does not work, and not where: the master tells which slice of a queue
 * stands still, and the destinations of the queue out tell what a server answers.
 */
#include "base/config.h"
#include "lists/site/round_trip.h"
#include "switchboard/spool.h"

typedef struct Sender {
    const Config *config;
    Store *store; /* borrowed */
    Spool *spool; /* borrowed */
    RoundTrip trip;
    bool ready;  /* the lists of the test mail exist */
    int64_t due; /* clock_monotonic(): when the next mail is sent */
} Sender;

void sender_init(Sender *sender, const Config *config, Store *store, Spool *spool);
void sender_clear(Sender *sender);

/* Look whether the mail has come back, and send the next one when it is due. *wait becomes the time in us after which
 * to call again. */
bool sender_turn(Sender *sender, int64_t *wait, GError **error);
