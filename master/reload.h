/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read the configuration, at the start and again. What is accepted is copied beside the control socket, for the
 * children. */
#include <glib.h>
#include <stdbool.h>

#include "master/plan.h"
#include "master/supervisor.h"

/* Read, check and plan the file at path, and apply [site] log and verbose. *text (g_free) is exactly what was checked.
 * FAIL_CONFIG, one fault a line. */
Plan *reload_read(const char *path, char **text, GError **error);

/* Write text to the copy of the configuration that children read (Master.config_copy), and keep it in config_text. */
bool reload_keep(Master *master, const char *text, GError **error);

/* Bind the addresses on which the plan's runners listen, as far as they are not bound yet. FAIL_CONFIG, one fault a
 * line; the addresses without a fault are bound then. */
bool reload_bind(Master *master, const Plan *plan, GError **error);

/* Read the configuration anew and change the running groups as it wants. False: the runners go on as before, and the
 * faults are logged and kept for `status`, unless the master is stopping (FAIL_LATER). */
bool reload_apply(Master *master, GError **error);
