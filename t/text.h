/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make bytes of a text and compare texts, in tests. */
#include <glib.h>
#include <string.h>

static inline GBytes *octets_of(const char *text)
{
    return g_bytes_new(text, strlen(text));
}

/* Assert that the text `made` is the expected one, and free it. */
static inline void assert_text(char *made, const char *expected)
{
    g_assert_cmpstr(made, ==, expected);
    g_free(made);
}
