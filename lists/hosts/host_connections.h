/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Compute how many connections to the database the hosts of a site may open, and check that its server takes so many.
 */
#include <glib.h>
#include <stdint.h>

#include "base/config.h"

/* Return the most connections that the processes of this host and a few commands open together. */
int64_t host_connections(const Config *config);

/* Add up the connections of all hosts of the configured database, this one by its configuration. If the server does not
 * take so many, return a sentence that says what to change; g_free(). NULL without an error: the server takes so many,
 * or there is nothing to add up. The latter is so when the database has no server, no schema yet, or that of an older
 * version. The database is only read. FAIL_LATER, FAIL_CONFIG: it cannot be asked. */
char *host_connections_fault(const Config *config, GError **error);
