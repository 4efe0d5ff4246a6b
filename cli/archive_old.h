/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Share code between the verbs of `listrunner archive` that note old addresses. */
#include <stdbool.h>

#include "lists/moving/old_address.h"
#include "store/archive_old.h"

/* Give the old archive of that kind a name by which addresses call it, and print from which list it was taken.
 * FAIL_NEVER: it cannot be one. */
bool archive_old_give_name(ArchiveOld *old, OldKind kind, const char *name, const char *archive, GError **error);
