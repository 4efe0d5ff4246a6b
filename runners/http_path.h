/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Paths of HTTP requests and the patterns of routes: "lists/{list}/held/{number}", "queues/{name}/{rest*}". */
#include <stdbool.h>

/* Does path fit the pattern? A brace stands for one segment, or with an asterisk for all that is left, and is not
 * empty. Where it fits, args (as long as the pattern has braces, and of NULL before) has what stands in their places,
 * decoded; g_free(). Where it does not, or something there is no UTF-8 or has a zero byte, args is as before. */
bool http_path_fits(const char *pattern, const char *path, char **args);

/* How many braces a pattern has. */
unsigned http_path_braces(const char *pattern);

/* Free count args, and set them to NULL. */
void http_path_clear(char **args, unsigned count);
