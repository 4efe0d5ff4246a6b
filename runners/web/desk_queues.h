/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make the tables of the operator's page that count what waits in the queues by its age. The template
 * desk_queues.mustache shows them. */
#include <jansson.h>

#include "switchboard/spool.h"

/* Return the tables, a new reference. FAIL_LATER: a queue cannot be read. */
json_t *desk_queues_view(Spool *spool, GError **error);
