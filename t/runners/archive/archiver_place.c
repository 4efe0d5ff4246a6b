/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors
 */
#include "t/runners/archive/archiver_place.h"

#include "runners/archive/archiver.h"

char *archiver_place;

const char *archiver_setting(Runner *runner, const char *section, const char *key, GError **error)
{
    return archiver_place;
}

bool archiver_wants_index(Runner *runner, const char *section, bool *looks)
{
    *looks = false;
    return false;
}
