/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/index_internal.h"

#include <stdlib.h>

#define AT(index, i) g_array_index((index)->heap, EntryName, i)

void index_init(Index *index, size_t limit)
{
    index->heap = g_array_new(FALSE, FALSE, sizeof(EntryName));
    index->horizon = INT64_MAX;
    index->limit = limit;
}

void index_clear(Index *index)
{
    g_clear_pointer(&index->heap, g_array_unref);
}

void index_reset(Index *index)
{
    g_array_set_size(index->heap, 0);
    index->horizon = INT64_MAX;
}

static int compare(const void *a, const void *b)
{
    return name_compare(a, b);
}

void index_add(Index *index, const EntryName *name)
{
    if (name->due >= index->horizon)
        return; /* a later listing will find it */
    g_array_append_val(index->heap, *name);
    guint at = index->heap->len - 1;
    while (at > 0 && name_compare(&AT(index, at), &AT(index, (at - 1) / 2)) < 0) {
        EntryName swap = AT(index, at);
        AT(index, at) = AT(index, (at - 1) / 2);
        AT(index, (at - 1) / 2) = swap;
        at = (at - 1) / 2;
    }
    if (index->heap->len <= 2 * index->limit)
        return;
    /* Too many: the later half goes back to being known to the disk only. A sorted array is a heap. */
    qsort(index->heap->data, index->heap->len, sizeof(EntryName), compare);
    index->horizon = MIN(index->horizon, AT(index, index->limit).due);
    guint keep = (guint)index->limit;
    while (keep > 0 && AT(index, keep - 1).due >= index->horizon)
        keep--;
    /* When all are due at the same moment, what fits is kept, in order. */
    g_array_set_size(index->heap, keep > 0 ? keep : (guint)index->limit);
}

size_t index_length(const Index *index)
{
    return index->heap->len;
}

const EntryName *index_first(const Index *index)
{
    return index->heap->len > 0 ? &AT(index, 0) : NULL;
}

void index_remove_first(Index *index)
{
    guint last = index->heap->len - 1;
    AT(index, 0) = AT(index, last);
    g_array_set_size(index->heap, last);
    for (guint at = 0;;) {
        guint least = at, left = 2 * at + 1, right = left + 1;
        if (left < last && name_compare(&AT(index, left), &AT(index, least)) < 0)
            least = left;
        if (right < last && name_compare(&AT(index, right), &AT(index, least)) < 0)
            least = right;
        if (least == at)
            return;
        EntryName swap = AT(index, at);
        AT(index, at) = AT(index, least);
        AT(index, least) = swap;
        at = least;
    }
}

static size_t count_due(const Index *index, guint at, int64_t now)
{
    if (at >= index->heap->len || AT(index, at).due > now)
        return 0;
    return 1 + count_due(index, 2 * at + 1, now) + count_due(index, 2 * at + 2, now);
}

size_t index_due(const Index *index, int64_t now)
{
    return count_due(index, 0, now);
}
