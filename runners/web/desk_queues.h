/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The tables of the operator's page that show how old what waits in queues is, as desk_queues.mustache has them. */
#include <jansson.h>

#include "switchboard/spool.h"

/* Return the tables, a new reference. FAIL_LATER: a queue cannot be read. */
json_t *desk_queues_view(Spool *spool, GError **error);
