/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The verbs of `listrunner list` that read and change settings. They know no setting by name:
 * everything comes from list_settings[] of the store.
 */
#include "cli/command.h"

extern const Command list_show, list_get_verb, list_set_verb, list_reset_verb;
