/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out which parts of a queue a living runner works. Runners hold locks on SPOOL/.master/QUEUE.slices, which has a
 * lockable byte for each value of the first byte of an entry's hash (master/slices.h). These functions ask for the
 * locks without taking any.
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/spool.h"

/* The locked bytes, by the first byte of the hash; any: at least one is locked. */
typedef struct Served {
    bool octet[256];
    bool any;
} Served;

/* Fill *served for the queue of this name. For retry and notice, the locks of out are looked at, which works them. */
void spool_served(Spool *spool, const char *queue, Served *served);

/* Return whether a master runs on this spool. */
bool spool_has_master(Spool *spool);

/* Return whether a command of an operator is changing entries of this spool now. */
bool spool_has_command(Spool *spool);
