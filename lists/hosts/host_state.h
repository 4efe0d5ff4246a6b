/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make the JSON object of one host of the site, as the shell and REST show it and metrics count it. Compute how many
 * connections to the database the hosts of a site may open, and check that its server takes so many.
 */
#include <glib.h>
#include <jansson.h>
#include <stdint.h>

#include "base/config.h"
#include "store/hosts/host.h"

/* Return a new reference to {name, state, started_at, seen_at, lease_until, epoch, version, backlog, draining, parts,
 * connections, waiting, said}. time() makes JSON of a time. backlog is the number of entries due in all its queues,
 * waiting the number that waits there for a person, both by the host's last report; null where the report lacks it,
 * since the host's master did not answer. said is the whole report. */
json_t *host_state(const Host *host, json_t *(*time)(int64_t time));

/* Return the most connections that the processes of this host and a few commands open together. */
int64_t host_state_connections(const Config *config);

/* Add up the connections of all hosts of the configured database, this one by its configuration. If the server does not
 * take so many, return a sentence that says what to change; g_free(). NULL without an error: the server takes so many,
 * or there is nothing to add up. The latter is so when the database has no server, no schema yet, or that of an older
 * version. The database is only read. FAIL_LATER, FAIL_CONFIG: it cannot be asked. */
char *host_state_connections_fault(const Config *config, GError **error);
