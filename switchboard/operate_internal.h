/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Take the lock of the operator's commands (operate.h), and bring to its end what a killed command left (INTERNALS.md,
 * OR1 to OR4).
 *
 * SPOOL/.operator is never removed. A command holds it exclusively; its text is not
 * empty from before the command's first claim until all is settled. Recovery of a
 * slice holds it shared, so that no command changes names under it.
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/spool.h"

/* For recovery, take the lock shared and, when a killed command left something, bring that to its end first. Return
 * true with *lock a descriptor that holds the lock until it is closed, or -1 when a command is at work or the lock
 * cannot be had (the log says so). Return false when the settling failed. */
bool operate_look(Spool *spool, int *lock, GError **error);

/* Return "QUEUE-HASH", by which a parent is found among those of all queues; g_free(). */
char *operate_parent_key(const char *queue, const uint8_t *hash);
