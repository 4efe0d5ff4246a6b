/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Reading the configuration, at the start and again. What is accepted is
 * copied beside the control socket, for the children.
 */
#include <glib.h>
#include <stdbool.h>

#include "master/plan.h"
#include "master/supervisor.h"

/* Read, check and plan the file at path, and apply [site] log and verbose. *text (g_free) is exactly what was checked.
 * FAIL_CONFIG, one fault a line. */
Plan *reload_read(const char *path, char **text, GError **error);

/* Put text where children read it. */
bool reload_keep(Master *master, const char *text, GError **error);

/* Bind what the plan's runners listen on. FAIL_CONFIG, one fault a line. */
bool reload_bind(Master *master, const Plan *plan, GError **error);

/* All of it, on the running groups. When it fails nothing has changed, and
 * the faults are logged and kept for `status`. */
bool reload_apply(Master *master, GError **error);
