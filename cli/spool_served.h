/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Which slices of a queue have a living owner: the locks that runners hold
 * on SPOOL/.master/QUEUE.slices, a byte for each first byte of a hash (master/slices.h). Asking
 * takes no lock.
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/spool.h"

/* One for each first byte of a hash. */
typedef struct Served {
    bool octet[256];
    bool any;
} Served;

/* The queue's own name, also for retry: out serves it. */
void spool_served(Spool *spool, const char *queue, Served *served);

/* Whether a master runs. */
bool spool_has_master(Spool *spool);

/* Whether an operator's command is at work. */
bool spool_has_command(Spool *spool);
