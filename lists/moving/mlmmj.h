/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a list of mlmmj: its directory (/var/spool/mlmmj/NAME), in which each setting is a file of control/, members
 * are lines of the files of subscribers.d/, digesters.d/ and nomailsubs.d/, and posts that wait for a moderator are
 * files of moderation/. Nothing is written there.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"

/* For moving_new(); lists of several directories may be brought in one after another. */
#define MLMMJ_SOURCE "mlmmj"

/* Describe the list of a directory. FAIL_MISSING: there is no control/listaddress; FAIL_CONFIG: it names no address;
 * then nothing of this list was described. */
bool mlmmj_move(const char *directory, Moving *moving, GError **error);
