/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
#include "cli/command.h"

extern const Command list_rename_verb, list_copy_verb;
