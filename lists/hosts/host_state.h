/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make the JSON object of one host of the site, as the shell and REST show it and metrics count it. */
#include <glib.h>
#include <jansson.h>
#include <stdint.h>

#include "store/hosts/host.h"

/* Return a new reference to {name, state, started_at, seen_at, lease_until, epoch, version, backlog, draining, parts,
 * connections, waiting, said}. time() makes JSON of a time. backlog is the number of entries due in all its queues,
 * waiting the number that waits there for a person, both by the host's last report; null where the report lacks it,
 * since the host's master did not answer. said is the whole report. */
json_t *host_state(const Host *host, json_t *(*time)(int64_t time));
