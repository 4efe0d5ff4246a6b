/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Look at the processes of each runner with instances = auto, every [master] scale_interval, and carry out what
 * scale.h decides. */
#include "master/group.h"
#include "master/supervisor.h"

typedef struct Scaler Scaler;

/* Begin to look, by a timer in the master's loop. master is borrowed. */
Scaler *scaler_new(Master *master);
void scaler_free(Scaler *scaler); /* NULL is none */

/* Look next when [master] scale_interval has passed from now on. Call it after a reload that changed the interval. */
void scaler_wait(Scaler *scaler);

/* Fit the plan that a reload wants for the runner of this group to its load. Where the number of instances goes by
 * load, both before and in the new plan, wanted->instances becomes the present number, kept within the new limits. The
 * group gets the new limits in any case, unless it is about to end. */
void scaler_keep(Group *group, PlanRunner *wanted);
