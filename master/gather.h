/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask the children that are ready and have a control socket of their own (base/control.h) what they know of
 * destinations. All are asked at once, and the master's loop goes on meanwhile: a child that stands still must not hold
 * it up.
 */
#include <jansson.h>

#include "master/supervisor.h"

typedef struct Gather Gather;

/* Take the answers. destinations is an array of all that came, each with the "instance" it came from; borrowed. fault
 * says which of the children that were asked gave no answer, and why; borrowed. NULL: all answered. */
typedef void GatherDone(void *data, const json_t *destinations, const char *fault);

/* GATHER_FIGURES asks for all that is known of the destinations with most waiting. GATHER_TROUBLES asks for those that
 * are dead, suspended, or throttled while mail waits for them, 100 of each child. */
typedef enum GatherWhat { GATHER_FIGURES, GATHER_TROUBLES } GatherWhat;

/* Ask the children. done is called once, from the loop, within 5 seconds (figures) or one (troubles); after that the
 * Gather is freed, and the pointer must not be used. */
Gather *gather_destinations(const Master *master, GatherWhat what, GatherDone *done, void *data);

/* Stop asking and free the Gather. Its done will not be called. */
void gather_cancel(Gather *gather);
