/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Look at the processes of each runner with instances = auto, every [master] scale_interval, and carry out what
 * scale.h decides. */
#include "master/group.h"
#include "master/supervisor.h"

typedef struct Scaler Scaler;

/* master is borrowed. */
Scaler *scaler_new(Master *master);
void scaler_free(Scaler *scaler); /* NULL is none */

/* A reload has this plan for a runner that is there. Where its number goes by load, change the plan so that the number
 * stays as it is within the new limits, and give the group these limits. */
void scaler_keep(Group *group, PlanRunner *wanted);
