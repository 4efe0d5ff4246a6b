/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The bounded index of an inbox: the names of ready entries, earliest first.
 * Holds at most INBOX_INDEX_MAX names, twice as many for a moment; later ones are dropped and remembered
 * only as a horizon: from that due time on the directory knows more than
 * the index. A name may be in it twice (listed and reported by an event); the
 * second claim finds nothing, which is harmless.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "switchboard/name.h"

typedef struct Index {
    GArray *heap;    /* of EntryName, a binary heap */
    int64_t horizon; /* due time from which names may be missing; INT64_MAX: none are */
    size_t limit;
} Index;

void index_init(Index *index, size_t limit);
void index_clear(Index *index); /* frees */
void index_reset(Index *index); /* before a new listing */

void index_add(Index *index, const EntryName *name);
size_t index_length(const Index *index);
const EntryName *index_first(const Index *index); /* NULL: empty */
void index_remove_first(Index *index);

/* Names due by now; exact up to the horizon. */
size_t index_due(const Index *index, int64_t now);
