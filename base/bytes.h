/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask about bytes as they are: whether one is a blank, whether text needs more than 7 bits, and the order of two texts.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Is it what may stand between the words of a header field, fold or not? */
static inline bool byte_is_blank(char octet)
{
    return octet == ' ' || octet == '\t' || octet == '\r' || octet == '\n';
}
/* Is any byte above 127? data may be NULL when length is 0. Fast enough for whole messages: it looks at eight bytes at
 * a time. */
bool bytes_8bit(const void *data, size_t length);
/* Ask bytes_8bit() about a GBytes. */
bool bytes_8bit_of(GBytes *bytes);

/* Is a line longer than BYTES_LINE, its end not counted (RFC 5322, section 2.1.1)? It jumps from line to line and looks
 * at few of the bytes. */
#define BYTES_LINE 998
bool bytes_long_line(const void *data, size_t length);

/* Compare two elements of an array of texts (char *) by their bytes, for qsort() and g_ptr_array_sort(). */
int bytes_compare_texts(const void *one, const void *other);
