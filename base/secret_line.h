/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read a secret that stands in the first line of a file: a key or a password. */
#include <glib.h>

/* The line without blanks around it; g_free(). NULL: FAIL_CONFIG, the file cannot be read or its first line is empty.
 * That everybody can read or write the file is told in the log. */
char *secret_line_read(const char *path, GError **error);
