/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Match paths of HTTP requests with the patterns of routes: "lists/{list}/held/{number}", "queues/{name}/{rest*}". */
#include <stdbool.h>

/* Return true when path fits the pattern. A brace stands for one segment, or with an asterisk for the rest of the
 * path; it matches at least one byte. args has an element for each brace, all NULL before. On true they hold the
 * matched parts, decoded; g_free(). A part that is no UTF-8 or has a zero byte does not fit. On false args is as
 * before. */
bool http_path_fits(const char *pattern, const char *path, char **args);

/* Return how many braces a pattern has. */
unsigned http_path_braces(const char *pattern);

/* Free count args, and set them to NULL. */
void http_path_clear(char **args, unsigned count);
