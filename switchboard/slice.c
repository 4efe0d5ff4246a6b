/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/slice.h"

/* count is at most 2^8, so the first byte of the hash decides. */
unsigned slice_of(const uint8_t *hash, unsigned count)
{
    return hash[0] * count / SLICE_COUNT_MAX;
}
