/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* How the files of a trail are made, for those who write and read them. Numbers are little-endian. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TRAIL_MAGIC "LRT1"
#define TRAIL_KEYS_MAGIC "LRK1"
#define TRAIL_TRACE 12

/* A block: this, `keys` numbers of 64 bits in order, each once, and `packed` bytes of zlib's format, which are `raw`
 * bytes of lines. sum is the CRC-32 of all behind the head, head_sum that of the head with a head_sum of 0. */
typedef struct TrailHead {
    char magic[4];
    uint32_t sum, keys, packed, raw, head_sum;
    int64_t first, last; /* microseconds since 1970, of its lines */
} TrailHead;

/* An entry of a file of keys, in order of key and offset. */
typedef struct TrailPlace {
    uint64_t key, offset; /* of a block */
} TrailPlace;

uint32_t trail_head_sum(const TrailHead *head);

/* Return the number by which files know a key: a hash of its text. */
uint64_t trail_key(const char *key, size_t length);

/* Set keys to the numbers of a line's keys, and return how many there are; 0: the line is about no mail. */
#define TRAIL_KEYS 3
unsigned trail_keys_of(const char *text, uint64_t keys[TRAIL_KEYS]);

/* The numbers of the files in the directory, in order; an empty array where it is missing. g_array_unref() */
GArray *trail_files(const char *directory, GError **error);
char *trail_path(const char *directory, unsigned number, const char *suffix);
#define TRAIL_SUFFIX ".trail"
#define TRAIL_KEYS_SUFFIX ".keys"

/* Return how many files are kept when all may have size bytes. */
unsigned trail_file_count(uint64_t size);

/* Remove the oldest files until there are at most count, and those to which nothing was written since `before`. Add
 * their number to *removed (may be NULL). */
bool trail_remove(const char *directory, unsigned count, int64_t before, int64_t *removed, GError **error);
