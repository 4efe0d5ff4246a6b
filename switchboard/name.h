/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read and write the name of an entry: SECONDS.MICROSECONDS+HASH. These are ten digits, a point, six digits, a plus
 * sign and 40 lower-case hex digits; a suffix behind them tells the state (INTERNALS.md). The time is when the entry is
 * due, so the order of bytes is the order of time. The hash says which slice (slice.h) the entry is in, and proves its
 * bytes.
 *
 *   1763644800.000042+0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33.msg
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define HASH_SIZE 20
#define HASH_DIGITS 40
#define NAME_LENGTH 58 /* without suffix */
#define NAME_SIZE (NAME_LENGTH + 1)

typedef struct EntryName {
    int64_t due; /* microseconds since 1970; 0 .. 9999999999.999999 s */
    uint8_t hash[HASH_SIZE];
} EntryName;

/* Write the text form without suffix. */
void name_format(const EntryName *name, char text[NAME_SIZE]);

/* Read a name from the first NAME_LENGTH bytes of text, behind which the text must end or go on with a point. *rest
 * (rest may be NULL) is set to that rest: "" or ".msg". False: it is no name. */
bool name_parse(const char *text, EntryName *name, const char **rest);

/* Compare two names by due time, then by hash: less than 0 when a is to be worked on before b. */
int name_compare(const EntryName *a, const EntryName *b);

/* Write a hash as hex digits. */
void name_hash_format(const uint8_t hash[HASH_SIZE], char text[HASH_DIGITS + 1]);
/* Return the key "QUEUE:HASH", such as "in:4cd1..."; g_free(). Under it the store records that an entry of that queue
 * has taken effect, so that the effect is not repeated. */
char *name_effect(const char *queue, const uint8_t hash[HASH_SIZE]);
/* Read a hash from hex digits. False: the text is no hash. */
bool name_hash_parse(const char *text, uint8_t hash[HASH_SIZE]);
/* Compare two hashes, for sorting. */
int name_hash_compare(const void *a, const void *b);
