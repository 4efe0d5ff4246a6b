/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/command.h"
#include "cli/spool_verbs.h"

static const Command *const verbs[] = {&spool_check, NULL};

const Command cmd_spool = {
    .name = "spool",
    .arguments = "",
    .summary = "Check the files of the spool",
    .verbs = verbs,
};
