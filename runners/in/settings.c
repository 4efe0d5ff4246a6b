/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner in has no settings but those that every runner has. */
#include "base/config_table.h"

/* clang-format off */
static const ConfigMember members[] = {
    {.section = "runner.in"},
    {.section = NULL},
};
/* clang-format on */

const ConfigSettings in_settings = {.members = members};
