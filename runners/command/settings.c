/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner command has no settings but those that every runner has. */
#include "base/config_table.h"

/* clang-format off */
static const ConfigMember members[] = {
    {"runner.command",
     .about = "Without it, mail to the addresses for joining, leaving, confirming and requests is refused, and no "
       "field of a copy names them."},
    {.section = NULL},
};
/* clang-format on */

const ConfigSettings command_settings = {.members = members};
