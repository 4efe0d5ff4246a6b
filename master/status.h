/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make the report that `status` shows, the reply of base/control.h, and the figures of processes and destinations in
 * the text format that Prometheus reads, version 0.0.4.
 */
#include <glib.h>
#include <jansson.h>

#include "master/supervisor.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Return the report, a new reference. */
json_t *status_json(Master *master);

/* Return the figures as text; g_string_free(). status is the report, with `waiting` of survey.h; destinations is what
 * the children told of them. Both are borrowed. */
GString *status_metrics(const json_t *status, const json_t *destinations);
