/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep what was learnt about destinations, and what the operator has ordered about them, across reloads and restarts.
 * Each instance has a JSON file in the directory SAVED_STATE_DIRECTORY of the spool. It is written when the runner
 * stops, when the operator orders something, and every SAVED_STATE_INTERVAL when there is anything new. After a change
 * of the number of instances all files are read, the newest word on a destination counts. A file that is damaged, of
 * another version, or older than SAVED_STATE_LIFETIME is passed over with a line in the log: nothing depends on it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "runners/outgoing/transport.h"
#include "switchboard/slice.h"

#define SAVED_STATE_DIRECTORY ".out"
#define SAVED_STATE_INTERVAL (INT64_C(60) * 1000000)
#define SAVED_STATE_LIFETIME (INT64_C(30) * 86400 * 1000000)
/* A state that is still true is written again after this time, so that it does not look too old; us. */
#define SAVED_STATE_RENEWAL (INT64_C(86400) * 1000000)

typedef struct SavedState {
    char *directory, *file;
    char *kept;       /* digest of what the file says; NULL: unknown */
    int64_t renew_at; /* monotonic */
} SavedState;

/* Make the directory where it is missing, and choose the file of this instance. */
void saved_state_init(SavedState *state, const char *spool, Slice slice);
void saved_state_clear(SavedState *state);

/* Read what was saved into the destinations of the transports (of Transport). */
void saved_state_load(const SavedState *state, const GPtrArray *transports);
/* Write the file; unless `anyway`, not when it says the same already, so that an idle process lets the disk sleep.
 * False, with a line in the log: it cannot be written. */
bool saved_state_write(SavedState *state, const GPtrArray *transports, bool anyway);
