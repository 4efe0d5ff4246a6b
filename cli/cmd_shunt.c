/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/command.h"
#include "cli/shunt_verbs.h"

static const Command *const verbs[] = {&shunt_ls, &shunt_retry, &shunt_delete, NULL};

const Command cmd_shunt = {
    .name = "shunt",
    .arguments = "",
    .summary = "Look at what was set aside for a person, try it again or delete it",
    .verbs = verbs,
};
