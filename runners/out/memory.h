/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What destinations have taught, and what the operator has ordered about them, kept across reloads and
 * restarts: a JSON file an instance in the directory MEMORY_DIRECTORY of the spool. It is written when the runner
 * stops, when the operator orders something, and every MEMORY_INTERVAL when there is anything new. After a change of
 * the number of instances all files are read, the newest word on a destination counts. A file that is damaged, of
 * another version, or older than MEMORY_LIFETIME is passed over with a line in the log: nothing depends on it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/out/transport.h"
#include "switchboard/slice.h"

#define MEMORY_DIRECTORY ".out"
#define MEMORY_INTERVAL (INT64_C(60) * 1000000)
#define MEMORY_LIFETIME (INT64_C(30) * 86400 * 1000000)
/* What is still true is written again after that time, so that it does not look too old. */
#define MEMORY_RENEWAL (INT64_C(86400) * 1000000)

typedef struct Memory {
    char *directory, *file;
    char *kept;       /* digest of what the file says; NULL: unknown */
    int64_t renew_at; /* monotonic */
} Memory;

/* Makes the directory. */
void memory_init(Memory *memory, const char *spool, Slice slice);
void memory_clear(Memory *memory);

/* transports: of Transport. */
void memory_load(const Memory *memory, const GPtrArray *transports);
/* False, with a line in the log, when it cannot be written. */
bool memory_save(Memory *memory, const GPtrArray *transports);
/* The same, but writes nothing when the file says it already: an idle process lets the disk sleep. */
bool memory_keep(Memory *memory, const GPtrArray *transports);
