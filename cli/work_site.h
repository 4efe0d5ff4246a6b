/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Give a verb the place in which use cases of lists/ run for the operator. */
#include "cli/site.h"
#include "lists/work.h"

typedef struct WorkPlace {
    Store *store;
    Spool *spool;
    WorkSite site; /* without keys */
    Actor actor;
} WorkPlace;

/* Open store and spool, which stay the Site's. */
bool work_place_open(WorkPlace *place, Site *site, GError **error);

/* Open the store alone. */
bool work_place_store(WorkPlace *place, Site *site, GError **error);
/* Begin a unit at an open place. Freeing it before it is committed undoes all. */
Work *work_place_unit(const WorkPlace *place, GError **error);
/* Open the store and begin a unit. */
Work *work_place_begin(WorkPlace *place, Site *site, GError **error);
/* Open store and spool and begin a unit. */
Work *work_place_begin_spooled(WorkPlace *place, Site *site, GError **error);
/* Commit the unit. The spool is opened only where use cases left entries behind. False: nothing was done. */
bool work_place_commit(WorkPlace *place, Site *site, Work *work, GError **error);
