/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask each instance of the runner out about its destinations: the domains and relays that it delivers to. Put the
 * answers together. runners/outgoing/control_server.h has the requests.
 */
#include <glib.h>
#include <jansson.h>

#include "cli/site.h"

/* Send a request (taken) to every instance that the master knows. Return a new array of the destination objects in
 * their replies, each with "instance" besides. NULL: an instance cannot be asked or refuses. FAIL_MISSING: no master or
 * no instance runs. */
json_t *destinations_ask(Site *site, json_t *request, GError **error);
