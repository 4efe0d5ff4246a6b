/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Take a sample of what each runner has done and what waits for it, once a minute, for history.h. */
#include <jansson.h>

#include "master/supervisor.h"

typedef struct Sampler Sampler;

/* Begin to sample, by a timer in the master's loop. master is borrowed; the file `history` is in its state_dir. */
Sampler *sampler_new(const Master *master);
void sampler_free(Sampler *sampler);

/* Return what history_json() tells until now, a new reference; NULL: there is no such range. */
json_t *sampler_json(const Sampler *sampler, const char *range);
