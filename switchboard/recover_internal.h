/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Shared by the recovery of a slice (recover.c) and that of intake (recover_intake.c, R7 and R8).
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/recover.h"

#define CANNOT_BE_READ "cannot be read (Input/output error)"
#define MAY_NOT_BE_READ "may not be read"

/* A set of hashes. */
GHashTable *recover_set_new(void);
void recover_set_add(GHashTable *set, const uint8_t *hash);
bool recover_set_has(GHashTable *set, const uint8_t *hash);

/* Is it a file? A directory or the like with one of our names was made by nobody here, and would stand in the way for
 * ever. */
bool recover_is_file(Queue *queue, const char *file);

/* A file of ours that somebody has taken from us: its owner or mode was changed, or it was made immutable. No waiting
 * helps, and the others shall not wait. */
bool recover_is_closed(Queue *queue, const char *file);

/* Of a change that failed: true when the file itself is in the way (immutable); the log tells, it stays as it is, and
 * the others go on. Consumes *fault: when false, into error. */
bool recover_stays(GError **fault, GError **error);

/* S5, counted in report->preserved; durable with the next sync of the directory. */
bool recover_set_aside(Queue *queue, RecoverReport *report, EntryName name, const char *file, const char *why,
                       GError **error);

/* R8 for the names (of EntryName, S1, which it consumes): what intake made whole under its temporary name, T1 and T2
 * once more. The caller has synced the directory since they were found. */
bool recover_stored(Queue *queue, GArray *names, RecoverReport *report, GError **error);
