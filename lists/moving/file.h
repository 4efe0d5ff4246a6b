/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read a file of another list system. */
#include <glib.h>

/* The whole file. NULL: FAIL_MISSING there is none; FAIL_NEVER it is no file, or too large; FAIL_LATER it cannot be
 * read. */
GBytes *moving_read_file(const char *path, GError **error);
