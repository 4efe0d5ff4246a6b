/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Find the sections [style.NAME] that make a family (lists/making/family.h), and the families whose section is gone. */
#include "base/config.h"
#include "store/lists/list.h"

/* Is there a style of that name, and is it a family? */
bool family_section_exists(const Config *config, const char *name);

/* Return the families that lists belong to and the configuration does not have: of ListNamed (store/lists/list.h),
 * g_ptr_array_unref(). NULL: the store failed. */
GPtrArray *family_section_gone(Store *store, const Config *config, GError **error);
