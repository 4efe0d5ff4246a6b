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

/* The parts of a queue that a living runner works. */
typedef struct Served {
    bool byte[256]; /* entries with this first byte of the hash are worked */
    bool any;       /* at least one part is */
} Served;

/* Fill *served for the queue of this name. The runner out also works retry and notice, so for these its locks count. */
void spool_served(Spool *spool, const char *queue, Served *served);

/* Return whether a master runs on this spool. */
bool spool_has_master(Spool *spool);

/* Return whether a command of an operator is changing entries of this spool now. */
bool spool_has_command(Spool *spool);
