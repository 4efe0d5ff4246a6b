/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the names of an inbox's ready entries in memory, the earliest first. The index holds up to `limit` names, and
 * twice as many for a moment. When there are more, the names that are due last are dropped, and the horizon is set to
 * the due time of the first one dropped: from that time on, only a new listing of the directory finds all. A name may
 * be in the index twice, when it was both listed and reported by an event; the second claim finds nothing, which is
 * harmless.
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
void index_reset(Index *index); /* empties it, before a new listing */

/* Add a name, unless it is due at the horizon or later. */
void index_add(Index *index, const EntryName *name);
size_t index_length(const Index *index);
const EntryName *index_first(const Index *index); /* NULL: empty */
void index_remove_first(Index *index);

/* Return the number of names that are due by now. Names beyond the horizon are not counted. */
size_t index_due(const Index *index, int64_t now);
