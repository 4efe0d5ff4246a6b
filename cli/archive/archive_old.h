/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Let old addresses of a list's archive lead to its archive here, for the verbs of `listrunner archive`. */
#include <stdbool.h>

#include "lists/moving/old_address.h"
#include "store/archive/archive_old.h"

/* Note that old addresses of this kind with the list's name `name` lead to the archive named `archive`. If they led to
 * another archive before, print that. FAIL_NEVER: no address has such a name in it. */
bool archive_old_give_name(ArchiveOld *old, OldKind kind, const char *name, const char *archive, GError **error);
