/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Explain why a database file cannot be opened, where SQLite says only "unable to open database file". */
#include <glib.h>

/* Return a sentence (g_free()) that tells which right to the file `where`, or to its directory, the user of this
 * process lacks, and who owns it. NULL: no right is lacking, so far as can be seen. */
char *store_access_denied(const char *where);
