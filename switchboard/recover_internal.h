/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the recovery of a slice (recover.c) and the recovery of intake (recover_intake.c, R7 and R8) share.
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/recover.h"

#define CANNOT_BE_READ "cannot be read (Input/output error)"
#define MAY_NOT_BE_READ "may not be read"

/* Make a set of hashes; g_hash_table_unref(). */
GHashTable *recover_set_new(void);
void recover_set_add(GHashTable *set, const uint8_t *hash);
bool recover_set_has(GHashTable *set, const uint8_t *hash);

/* Is this a regular file? Recovery passes over a directory or the like with an entry's name: no program of ours made
 * it, and it would stand in the way for ever. */
bool recover_is_file(Queue *queue, const char *file);

/* Did somebody change this file's owner or mode, or make it immutable, so that we may not use it? Waiting does not help
 * then, and recovery goes on with the other files. */
bool recover_is_closed(Queue *queue, const char *file);

/* Judge a change of a file that failed with *fault, which is consumed. Return true, and log it, when the file itself is
 * immutable: it stays, and recovery goes on. Else move the fault into error and return false. */
bool recover_stays(GError **fault, GError **error);

/* Set an entry aside as .psv (S5), log why, and count it in report->preserved. It is durable after the next sync of the
 * directory. */
bool recover_set_aside(Queue *queue, RecoverReport *report, EntryName name, const char *file, const char *why,
                       GError **error);

/* Publish entries that a dead intake wrote whole under temporary names (R8). names is of EntryName, and is taken. The
 * caller has synced the directory since they were found. */
bool recover_stored(Queue *queue, GArray *names, RecoverReport *report, GError **error);
