/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The verbs of listrunner bounce that need the store. */
#include "cli/command.h"

extern const Command bounce_ls, bounce_show, bounce_reset_verb, bounce_stat, bounce_rotate;
