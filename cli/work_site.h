/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Let a verb of the shell run use cases of lists/ as the operator, in units of work (lists/work.h). A WorkPlace stands
 * on the stack and owns nothing: store and spool belong to the Site. */
#include "cli/site.h"
#include "lists/work.h"

typedef struct WorkPlace {
    Store *store;
    Spool *spool;
    WorkSite site; /* without keys */
    Actor actor;
} WorkPlace;

/* Fill *place, and open store and spool. */
bool work_place_open(WorkPlace *place, Site *site, GError **error);

/* Fill *place, and open the store alone; spool is NULL. */
bool work_place_store(WorkPlace *place, Site *site, GError **error);
/* Make a unit and begin its transaction, at a place that is open. work_free() before the commit rolls back. */
Work *work_place_unit(const WorkPlace *place, GError **error);
/* Do what work_place_store() and then work_place_unit() do. */
Work *work_place_begin(WorkPlace *place, Site *site, GError **error);
/* Do what work_place_open() and then work_place_unit() do. */
Work *work_place_begin_spooled(WorkPlace *place, Site *site, GError **error);
/* Do what work_place_open() does, and make a unit with work_begin_people() for no list. */
Work *work_place_begin_people(WorkPlace *place, Site *site, GError **error);
/* Commit the unit, as work_commit() does. The spool is opened first where use cases left entries and it is not open
 * yet. False: nothing was done, unless the message says that nobody knows. The unit stays the caller's. */
bool work_place_commit(WorkPlace *place, Site *site, Work *work, GError **error);
