/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The verbs of `listrunner held` that decide about a held post. */
#include "cli/command.h"

extern const Command held_accept, held_reject, held_discard;

/* A request's number; false with a usage error. */
bool held_number(const char *text, int64_t *number, GError **error);
