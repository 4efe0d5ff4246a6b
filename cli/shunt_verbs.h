/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The verbs of `listrunner shunt`, each in a file of its name. */
#include "cli/command.h"

extern const Command shunt_ls, shunt_retry, shunt_delete;
