/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Slices: slice i of N (a power of two, 1 .. 256) owns the hashes whose top
 * log2(N) bits equal i. Integer arithmetic; every hash has exactly one owner.
 */
#include <stdbool.h>
#include <stdint.h>

#define SLICE_COUNT_MAX 256

typedef struct Slice {
    unsigned index;
    unsigned count;
} Slice;

/* The index of the slice, of count, that owns the hash. count is at most 2^8, so the first byte decides. */
static inline unsigned slice_of(const uint8_t *hash, unsigned count)
{
    return hash[0] * count / SLICE_COUNT_MAX;
}

static inline bool slice_owns(Slice slice, const uint8_t *hash)
{
    return slice_of(hash, slice.count) == slice.index;
}
