/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* SQLite says "unable to open database file" and not who lacks which right. */
#include <glib.h>

/* Which right to the database at `where`, or to the directory that it is in, the user of this process lacks: a sentence
 * that names both and the owner, g_free(). NULL: none, so far as can be seen. */
char *store_access_denied(const char *where);
