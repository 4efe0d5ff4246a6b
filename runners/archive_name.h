/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The name of a list's archive below the path of an archiver, for who writes it and who reads it. */

/* A list's name as part of a path: '/' and what could hide or climb is
 * written as %XX, and the end of one that is too long for a file's name as its SHA-1. g_free(). */
char *archiver_file_name(const char *list);
