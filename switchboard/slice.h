/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Divide the entries of a queue into slices, one for each process that works the queue. N slices are a power of two, 1
 * to 256. Slice i owns the hashes whose top log2(N) bits equal i, so every hash has exactly one owner.
 */
#include <stdbool.h>
#include <stdint.h>

#define SLICE_COUNT_MAX 256

typedef struct Slice {
    unsigned index;
    unsigned count;
} Slice;

/* Return the index of the slice, of `count` slices, that owns the hash. The first byte decides. */
static inline unsigned slice_of(const uint8_t *hash, unsigned count)
{
    return hash[0] * count / SLICE_COUNT_MAX;
}

static inline bool slice_owns(Slice slice, const uint8_t *hash)
{
    return slice_of(hash, slice.count) == slice.index;
}
