/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Check that this machine has everything that a site to be made needs. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

/* Can the configuration at path, the spool and the database be written? FAIL_LATER names the directory whose file
 * system is read-only or full. */
bool setup_check_disks(const char *path, const Config *config, GError **error);

/* Are the ports free that Listrunner is to listen on, where it does not run yet? With asks also that for Postfix.
 * FAIL_LATER names the one that is taken. */
bool setup_check_ports(const Config *config, bool asks, GError **error);
