/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/command.h"

static const Command *const verbs[] = {
    &queue_ls,      &queue_cat,    &queue_stat,   &queue_shape,  &queue_hold,
    &queue_release, &queue_requeue, &queue_delete, &queue_expire, &queue_edit_due, NULL,
};

const Command cmd_queue = {
    .name = "queue",
    .arguments = "",
    .summary = "Look at the queues and the entries in them, and change them",
    .verbs = verbs,
};
