/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The verbs of `listrunner spool`. */
#include "cli/command.h"

extern const Command spool_check;
