/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* What a verb needs to run use cases of lists/: who asks is the operator. */
#include "cli/site.h"
#include "lists/work.h"

typedef struct WorkPlace {
    Store *store;
    Spool *spool;
    WorkSite site; /* without keys */
    Actor actor;
} WorkPlace;

/* Open store and spool, which stay the Site's, and store what a command that was cut short left in the outbox. */
bool work_place_open(WorkPlace *place, Site *site, GError **error);

/* Begin a unit for use cases that leave no entries behind: the spool is not needed. */
Work *work_place_begin(WorkPlace *place, Site *site, GError **error);
