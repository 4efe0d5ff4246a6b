/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The character references of HTML: "&uuml;", "&#252;", "&#xfc;". */
#include <glib.h>
#include <stdbool.h>

/* Appends what the reference at the ampersand `at` means, in UTF-8, and returns what follows it. Where it is none, the
 * ampersand is text. A space that does not break is an ordinary one. */
const char *html_entity_take(const char *at, GString *out);
