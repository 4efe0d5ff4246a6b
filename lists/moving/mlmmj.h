/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a list of mlmmj from its directory (/var/spool/mlmmj/NAME). Each setting is a file of control/ there. Members
 * are lines of the files of subscribers.d/, digesters.d/ and nomailsubs.d/. Posts that wait for a moderator are files
 * of moderation/. Nothing is written there.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"

/* The source for moving_new(). One import may call mlmmj_move() for several directories, one after another. */
#define MLMMJ_SOURCE "mlmmj"

/* Import the list of a directory. FAIL_MISSING: there is no control/listaddress; FAIL_CONFIG: it names no address;
 * then nothing of this list was imported. */
bool mlmmj_move(const char *directory, Moving *moving, GError **error);
