/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * All instances of one runner. A group changes as a whole: every old child
 * has ended before the first new one starts, so no slice has two owners.
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

/* Copy the plan; starts nothing yet. */
Group *group_new(Master *master, const PlanRunner *plan);
void group_free(Group *group);

void group_start(Group *group);

/* Stop the children, then start those of next (copied); NULL: removes the
 * group. Said again while it is changing, only the goal changes. */
void group_change(Group *group, const PlanRunner *next);

/* SIGHUP to its children, and a new try for those that wait. */
void group_refresh(Group *group);

/* Return the plan that the group follows or will follow; NULL when it is going. */
const PlanRunner *group_goal(const Group *group);

/* Called from the sweep: goes on with a change. False: the group has ended. */
bool group_sweep(Group *group);

/* Every child has been ready or failed once. */
bool group_settled(const Group *group);
