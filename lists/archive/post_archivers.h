/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* List the archivers of the site, for rules and handlers: posts name them in List-Archive and Archived-At. */
#include <glib.h>

#include "base/config.h"
#include "lists/work.h"

/* Return the archivers that the configuration enables, an array of PostArchiver (posting/post_site.h), zero-terminated;
 * g_array_unref(). Their names are borrowed from config. */
GArray *post_archivers_read(const Config *config, const WorkSite *site);
