/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Looks for children whose parent is in no state (INTERNALS.md, R6 and OR4), without
 * touching anything and beside whoever is at work: it looks several times, so that a parent
 * that just changes its name is not taken for gone.
 */
#include <glib.h>
#include <stdbool.h>

#include "switchboard/spool.h"

typedef struct Stray {
    Queue *queue; /* where it lies */
    char *file;
    char *parent; /* "QUEUE-HASH" */
} Stray;

/* Array of Stray; g_ptr_array_unref() frees it. NULL with error set. */
GPtrArray *stray_find(Spool *spool, GError **error);

/* Whether rest, what name_parse() left over, is the tag of a child; *by_operator tells whose. */
bool stray_is_tag(const char *rest, bool *by_operator);
