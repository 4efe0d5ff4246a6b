/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Check, before a site is set up, that this machine has the disks and ports for it. */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

/* Check that the configuration at path, the spool and the database can be written. FAIL_LATER: the file system of one
 * is read-only or full; the message names its directory. */
bool setup_check_disks(const char *path, const Config *config, GError **error);

/* Check that the ports of [runner.lmtp] listen are free, and with `asks` also those of [runner.mta] for Postfix. Do not
 * call it where Listrunner runs already. FAIL_LATER: one is taken; the message names it. */
bool setup_check_ports(const Config *config, bool asks, GError **error);
