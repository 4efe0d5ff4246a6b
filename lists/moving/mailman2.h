/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a list of GNU Mailman 2.1: its directory (/var/lib/mailman/lists/NAME), in which config.pck has the settings and
 * the members, and digest.mbox the posts for the next digest. Nothing is written there.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"

/* For moving_new(); lists of several directories may be brought in one after another. */
#define MAILMAN2_SOURCE "mailman2"

/* Describe the list of a directory. FAIL_MISSING: there is no config.pck; FAIL_CONFIG: it cannot be read, or is none of
 * Mailman 2.1; then nothing of this list was described. */
bool mailman2_move(const char *directory, Moving *moving, GError **error);
