/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Sends mails through the MTA and back (lists/round_trip.h), one each [watch] interval, through the slices of out and
 * in by turns, and records them and their return (store/canary.h). Without [watch] canary it does nothing.
 */
#include "base/config.h"
#include "lists/round_trip.h"
#include "switchboard/spool.h"

typedef struct Sender {
    const Config *config;
    Store *store; /* borrowed */
    Spool *spool; /* borrowed */
    RoundTrip trip;
    unsigned slices; /* the greater number of instances, of out and in */
    unsigned next;   /* the slice that the next one goes through */
    bool ready;      /* the lists are there */
    int64_t due;     /* clock_monotonic(): of the next */
} Sender;

void sender_init(Sender *sender, const Config *config, Store *store, Spool *spool);
void sender_clear(Sender *sender);

/* Look for what is under way, and send what is due. *wait becomes the time until it has something to do, in us. */
bool sender_turn(Sender *sender, int64_t *wait, GError **error);
