/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Share helpers among the fuzz targets. Each target defines LLVMFuzzerTestOneInput(), which the fuzzer calls. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* End the process, which is a finding of the fuzzer, unless the condition is true. */
static inline void require(bool condition)
{
    if (!condition)
        abort();
}

/* Feed data to a parser in pieces of `piece` bytes, and append a text of all that it read to `seen`. */
typedef void FuzzRead(const char *data, size_t size, size_t piece, GString *seen);

/* Require that a parser which is fed in pieces reads the same from the whole and from single bytes. */
static inline void require_same_in_pieces(FuzzRead *read, const uint8_t *data, size_t size)
{
    g_autoptr(GString) whole = g_string_new(NULL), bytes = g_string_new(NULL);
    read((const char *)data, size, size, whole);
    read((const char *)data, size, 1, bytes);
    require(g_string_equal(whole, bytes));
}
