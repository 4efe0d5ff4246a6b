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

/* Take the lock exclusively; -1 on failure: FAIL_RACE when it is taken and wait is false. */
int operate_lock(Spool *spool, bool wait, GError **error);

/* For recovery, take the lock shared and, when a killed command left something, bring that to its end first. Return
 * true with *lock a descriptor that holds the lock until it is closed, or -1 when a command is at work or the lock
 * cannot be had (the log says so). Return false when the settling failed. */
bool operate_look(Spool *spool, int *lock, GError **error);

/* Bring to its end what a killed command left. lock is a descriptor that holds the lock exclusively. leftovers, unless
 * NULL, is filled with the children of runners' hops that are being written: it maps operate_parent_key() of the parent
 * to an array of Leftover. */
bool operate_settle(Spool *spool, int lock, GHashTable *leftovers, GError **error);

typedef struct Leftover {
    Queue *queue;
    char *file;
} Leftover;

GHashTable *operate_leftovers_new(void);
char *operate_parent_key(const char *queue, const uint8_t *hash);
