/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a list of ezmlm or ezmlm-idx: its directory, in which each setting is a file, and members are the files of
 * subscribers/ with "T", the address and a zero byte for each. Nothing is written there.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"

/* For moving_new(); lists of several directories may be brought in one after another. */
#define EZMLM_SOURCE "ezmlm"

/* Describe the list of a directory. FAIL_MISSING: there is no outlocal or outhost; FAIL_CONFIG: they name no address,
 * or the members are in a database; then nothing of this list was described. */
bool ezmlm_move(const char *directory, Moving *moving, GError **error);
