/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a list of GNU Mailman 2.1 from its directory (/var/lib/mailman/lists/NAME). Its file config.pck has the settings
 * and the members, and digest.mbox the posts for the next digest. Nothing is written there.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"

/* The source for moving_new(). One import may call mailman2_move() for several directories, one after another. */
#define MAILMAN2_SOURCE "mailman2"

/* Import the list of a directory. FAIL_MISSING: there is no config.pck; FAIL_CONFIG: it cannot be read, or is none of
 * Mailman 2.1; then nothing of this list was imported. */
bool mailman2_move(const char *directory, Moving *moving, GError **error);
