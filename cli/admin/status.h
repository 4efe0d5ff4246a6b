/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Ask the master for its status, and the database for things that wait for a person. */
#include <glib.h>
#include <jansson.h>

#include "cli/site.h"

/* Return the state of the site (lists/site/site_state.h), which status_text.h shows and judges; json_decref(). The
 * process becomes [site] user. If the database cannot be opened, `store_fault` says why. NULL: no master can be
 * asked. */
json_t *status_ask(Site *site, GError **error);
