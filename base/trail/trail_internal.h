/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare the format of the files of a trail, for trail.c and its tests. Numbers are as the machine has them. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TRAIL_MAGIC "LRT1"
#define TRAIL_KEYS_MAGIC "LRK1"
#define TRAIL_TRACE 12

/* A block is this head, then `keys` numbers of 64 bits in order, each once, then `packed` bytes of zlib's format. They
 * unpack to `raw` bytes of lines. sum is the CRC-32 of all behind the head, head_sum that of the head with a head_sum
 * of 0. */
typedef struct TrailHead {
    char magic[4];
    uint32_t sum, keys, packed, raw, head_sum;
    int64_t first, last; /* microseconds since 1970, of its lines */
} TrailHead;

/* An entry of a file of keys, in order of key and offset. */
typedef struct TrailPlace {
    uint64_t key, offset; /* of a block */
} TrailPlace;

/* Return the numbers (unsigned) of the files in the directory, in order; an empty array where it is missing.
 * g_array_unref(). NULL with error: the directory cannot be read. */
GArray *trail_files(const char *directory, GError **error);
/* Return the path of the file with that number and one of these suffixes; g_free(). */
char *trail_path(const char *directory, unsigned number, const char *suffix);
#define TRAIL_SUFFIX ".trail"
#define TRAIL_KEYS_SUFFIX ".keys"

/* Return how many files are kept, when all may have size bytes together. */
unsigned trail_file_count(uint64_t size);
