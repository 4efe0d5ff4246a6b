/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner digest: section [digest]. */
#include "base/config_table.h"

/* clang-format off */
static const ConfigKey keys[] = {
    {"max_size", SIZE("8M", 64 * KIB, 1024 * MIB),
     .about = "A list's digest is sent when the posts that wait for it have this size, whatever the list says: so that "
      "mail servers take it."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"digest", .about = "What the runner digest collects.", .keys = keys},
    {.section = NULL},
};

static const ConfigMember members[] = {
    {.section = "runner.digest"},
    {.section = NULL},
};
/* clang-format on */

const ConfigSettings digest_settings = {.tables = tables, .members = members};
