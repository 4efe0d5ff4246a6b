/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Start, change and end all instances of one runner, its group. A group changes as a whole: every old child has ended
 * before the first new one starts, so no slice has two owners.
 */
#include <glib.h>
#include <stdbool.h>

#include "master/plan.h"
#include "master/scale.h"
#include "master/supervisor.h"
#include "master/worker.h"

typedef struct Group {
    Master *master;
    PlanRunner *plan; /* what runs */
    PlanRunner *next; /* while changing: what follows; NULL: nothing, the group goes */
    bool changing;
    GPtrArray *workers;
    Scale scale;
    int64_t scaled_at; /* when their number was changed last because of the load, wall clock; 0: never */
    char *scaled_why;
} Group;

/* Make a group with a copy of the plan. Nothing is started. */
Group *group_new(Master *master, const PlanRunner *plan);
void group_free(Group *group);

/* Start all children. */
void group_start(Group *group);

/* Stop the children, and when all have ended start those of the plan next, which is copied. next NULL: the sweep then
 * removes the group. A call while the group is changing only replaces the plan that follows. */
void group_change(Group *group, const PlanRunner *next);

/* Have each running child read its files anew (SIGHUP), and start those that failed or wait before their next try. */
void group_refresh(Group *group);

/* Return the plan that the group follows or will follow; NULL when it is going. */
const PlanRunner *group_goal(const Group *group);

/* Go on with a change, once all old children are gone. The sweep calls it. False: the group has ended; free it. */
bool group_sweep(Group *group);

/* Return whether every child has been ready, or has failed, at least once. */
bool group_settled(const Group *group);
