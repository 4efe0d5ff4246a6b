/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make the report that `status` shows: the reply of base/control.h. */
#include <jansson.h>

#include "master/supervisor.h"

/* Return the report, a new reference. */
json_t *status_json(Master *master);
