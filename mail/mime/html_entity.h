/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read the character references of HTML: "&uuml;", "&#252;", "&#xfc;". */
#include <glib.h>
#include <stdbool.h>

/* Append the character that the reference at the ampersand `at` stands for, in UTF-8, and return the place behind the
 * reference. When no reference stands there, append the ampersand and return the place behind it. A no-break space
 * becomes an ordinary one. */
const char *html_entity_take(const char *at, GString *out);
