/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The verbs of `listrunner queue`, each in a file of its name. */
#include "cli/command.h"

extern const Command queue_ls, queue_cat, queue_stat;
