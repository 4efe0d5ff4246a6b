/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Write figures of processes and destinations in the text format that Prometheus reads, version 0.0.4. */
#include <glib.h>
#include <jansson.h>

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Return the figures as text; g_string_free(). status is the reply of status.h, destinations what gather.h brought
 * together; both are borrowed. */
GString *metrics_text(const json_t *status, const json_t *destinations);
