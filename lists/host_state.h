/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A host of the site as one object, as the shell and REST show it and as metrics count it. */
#include <glib.h>
#include <jansson.h>
#include <stdint.h>

#include "store/host.h"

/* Return "living", "draining", "stopped", or "dead": its lease has run out. */
const char *host_state_word(const Host *host);

/* Return a new reference to {name, state, started_at, seen_at, lease_until, epoch, version, backlog, draining, parts,
 * connections, waiting, said}. time writes a time. backlog is what is due in all its queues, waiting what waits there
 * for a person, both as it said last; null where its master did not answer it. said is all that it said. */
json_t *host_state(const Host *host, json_t *(*time)(int64_t time));
