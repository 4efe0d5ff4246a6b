/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The name of an entry: SECONDS.MICROSECONDS+HASH, ten digits, point, six
 * digits, plus sign, 40 lower-case hex digits; then a suffix that tells the
 * state (INTERNALS.md). The time is when the entry is due, so byte order is
 * time order; the hash says whose slice it is and proves the bytes.
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

/* Read the first NAME_LENGTH bytes of text, which must be followed by the
 * end or a point; false (silently) when they are no name. rest, when not NULL, is
 * set to what follows: "" or ".msg". */
bool name_parse(const char *text, EntryName *name, const char **rest);

/* Compare two names by due time, then by hash: less than 0 when a is to be worked on before b. */
int name_compare(const EntryName *a, const EntryName *b);

void name_hash_format(const uint8_t hash[HASH_SIZE], char text[HASH_DIGITS + 1]);
/* Return the key "QUEUE:HASH", such as "in:4cd1...", under which the store records that an entry of that queue has
 * taken effect, so that the effect is not repeated. g_free() */
char *name_effect(const char *queue, const uint8_t hash[HASH_SIZE]);
bool name_hash_parse(const char *text, uint8_t hash[HASH_SIZE]);
int name_hash_compare(const void *a, const void *b); /* of two hashes, for sorting */
