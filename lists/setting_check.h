/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * List settings whose values name sections of the configuration, of which the store knows nothing: transport,
 * archivers, and the chains and pipelines.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

/* In the setting archivers: none of them. */
#define ARCHIVERS_NONE "none"

/* Is everything that the value names there? True for all other settings. FAIL_NEVER: it is not; the message names what
 * there is. FAIL_MISSING: there is no such setting. */
bool setting_check(const Config *config, const char *setting, const char *value, GError **error);
