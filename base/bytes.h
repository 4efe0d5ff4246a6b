/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Does text need more than 7 bits? Asked of whole messages, so it looks at eight bytes at a time.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Is any byte above 127? data may be NULL when length is 0. */
bool bytes_8bit(const void *data, size_t length);
bool bytes_8bit_of(GBytes *bytes);
