/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Asks the children that have a control socket of their own (base/control.h) what they know of destinations, all at
 * once and without waiting for any: a child that stands still must not hold up its master.
 */
#include <jansson.h>

#include "master/supervisor.h"

typedef struct Gather Gather;

/* destinations: what came, each with the "instance" it came from; borrowed. fault: who did not answer and why, NULL
 * when all did. */
typedef void GatherDone(void *data, const json_t *destinations, const char *fault);

/* done is called once, from the loop, within GATHER_SECONDS; then the object is gone. */
#define GATHER_SECONDS 5
Gather *gather_destinations(const Master *master, GatherDone *done, void *data);

/* done will not be called. */
void gather_cancel(Gather *gather);
