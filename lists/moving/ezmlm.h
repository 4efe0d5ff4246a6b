/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a list of ezmlm or ezmlm-idx from its directory. Each setting is a file there. The members are in the files of
 * subscribers/, each as "T", the address and a zero byte. Nothing is written there.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"

/* The source for moving_new(). One import may call ezmlm_move() for several directories, one after another. */
#define EZMLM_SOURCE "ezmlm"

/* Import the list of a directory. FAIL_MISSING: there is no outlocal or outhost; FAIL_CONFIG: they name no address,
 * or the members are in a database; then nothing of this list was imported. */
bool ezmlm_move(const char *directory, Moving *moving, GError **error);
