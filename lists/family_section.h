/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The sections [style.NAME] that make a family (lists/family.h), and lists that have lost theirs. */
#include "base/config.h"
#include "store/list.h"

/* Is there a style of that name, and is it a family? */
bool family_section_exists(const Config *config, const char *name);

/* The families that lists belong to and the configuration does not have: of ListNamed, g_ptr_array_unref(). NULL: the
 * store failed. */
GPtrArray *family_section_gone(Store *store, const Config *config, GError **error);
