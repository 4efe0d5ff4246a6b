/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find strays: children (files that a hop was writing) whose parent is gone (INTERNALS.md, R6 and OR4). Nothing is
 * changed, and runners may be at work. stray_find() looks for parents several times, so that a parent which just
 * changes its name is not taken for gone. It therefore takes a while.
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/spool.h"

typedef struct Stray {
    Queue *queue; /* where it lies */
    char *file;
    char *parent; /* "QUEUE-HASH" */
} Stray;

/* Return the strays of all queues, an array of Stray; g_ptr_array_unref(). NULL: a queue cannot be listed. */
GPtrArray *stray_find(Spool *spool, GError **error);

/* Is rest, which name_parse() returned, the tag of a child? Set *by_operator when an operator's command, and not a
 * runner, was writing the child. */
bool stray_is_tag(const char *rest, bool *by_operator);
