/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Shared by the fuzz targets. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool condition)
{
    if (!condition)
        abort();
}

/* Reads data in pieces of so many bytes, and appends what was read to seen. */
typedef void FuzzRead(const char *data, size_t size, size_t piece, GString *seen);

/* A parser that is fed in pieces must read the same from the whole and from single bytes. */
static inline void require_same_in_pieces(FuzzRead *read, const uint8_t *data, size_t size)
{
    g_autoptr(GString) whole = g_string_new(NULL), bytes = g_string_new(NULL);
    read((const char *)data, size, size, whole);
    read((const char *)data, size, 1, bytes);
    require(g_string_equal(whole, bytes));
}
