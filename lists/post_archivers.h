/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The archivers of the site as posts name them, in List-Archive and Archived-At. */
#include <glib.h>

#include "base/config.h"
#include "lists/work.h"

/* Return the enabled archivers, an array of PostArchiver (posting/post_site.h), zero-terminated; g_array_unref(). Names
 * are borrowed from config. */
GArray *post_archivers_read(const Config *config, const WorkSite *site);
