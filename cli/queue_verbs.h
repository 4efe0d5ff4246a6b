/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The verbs of `listrunner queue`, each in a file of its name but for the five of queue_change.c. */
#include "cli/command.h"

extern const Command queue_ls, queue_cat, queue_stat, queue_shape;

/* These change something (queue_act.h). */
extern const Command queue_hold, queue_release, queue_requeue, queue_delete, queue_expire, queue_edit_due;
