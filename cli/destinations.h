/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask each instance of out about destinations (runners/outgoing/control_server.h), and put the answers together.
 */
#include <glib.h>
#include <jansson.h>

#include "cli/site.h"

/* Ask every instance that the master knows; request is consumed. Returns a new array of their destination
 * objects, each with "instance"; NULL with *error when one cannot be asked or refuses (FAIL_MISSING: nothing runs). */
json_t *destinations_ask(Site *site, json_t *request, GError **error);
