/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read every text of letters that somebody set: in the database, in the site's folder, in the settings of lists. */
#include <glib.h>
#include <stdbool.h>

#include "store/store.h"

/* Print a line for each that has a placeholder that is not filled in, or could not be fetched; *faults counts them.
 * folder: that of the site's own files; NULL: there is none. */
bool template_check_all(Store *store, const char *folder, unsigned *faults, GError **error);
