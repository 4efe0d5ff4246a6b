/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner queue: ls, cat, stat. All of them only read. */
#include "cli/command.h"
#include "cli/queue_verbs.h"

static const Command *const verbs[] = {&queue_ls, &queue_cat, &queue_stat, NULL};

const Command cmd_queue = {
    .name = "queue", .arguments = "", .summary = "Look at the queues and the entries in them", .verbs = verbs,
};
