/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Check the values of list settings that name sections of the configuration: transport, archivers, family, and the
 * chains and pipelines. The store does not know the configuration, and so cannot check them.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "store/lists/list.h"

/* The value of the setting `archivers` for a list whose posts no archiver keeps. */
#define ARCHIVERS_NONE "none"

/* Check that each section which the value names is in the configuration. The default of a setting passes, and so do
 * settings that name no sections. FAIL_NEVER: a section is not there (the message names those that are, but for
 * family), or a chain or pipeline is empty. FAIL_MISSING: there is no such setting. */
bool setting_check(const Config *config, const char *setting, const char *value, GError **error);

/* Return the families that lists belong to and the configuration does not have: of ListNamed (store/lists/list.h),
 * g_ptr_array_unref(). NULL: the store failed. */
GPtrArray *setting_check_families(Store *store, const Config *config, GError **error);
