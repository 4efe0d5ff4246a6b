/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read a file that another list system has written, for the readers of such systems (moving.h). */
#include <glib.h>

/* Return the bytes of the whole file; g_bytes_unref(). NULL: FAIL_MISSING there is none; FAIL_NEVER it is no regular
 * file, or larger than MBOX_MAIL_MAX; FAIL_LATER it cannot be read. */
GBytes *moving_read_file(const char *path, GError **error);
