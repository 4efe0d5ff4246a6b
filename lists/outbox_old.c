/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/outbox_old.h"

#include <string.h>

#include "base/fail.h"
#include "base/fs.h"
#include "lists/unit.h"
#include "store/outbox.h"
#include "switchboard/meta.h"

/* The draft that a row stands for, under the name that followed from it. */
static Draft *row_draft(const OutboxRow *row, GError **error)
{
    json_t *meta = meta_parse(row->meta, strlen(row->meta), error);
    if (!meta)
        return NULL;
    if (meta_integer(meta, META_ARRIVAL, 0) <= 0)
        meta_set_integer(meta, META_ARRIVAL, row->made_at);
    meta_set_integer(meta, META_ORDINAL, row->number);
    Draft *draft = draft_new(row->queue, meta);
    draft_add_message(draft, row->message);
    if (*row->recipients)
        draft_set_addresses(draft, g_strsplit(row->recipients, "\n", -1));
    return draft;
}

/* A runner has worked on it, or it is in its queue in some state. What intake was writing when it died goes, before we
 * look: else it would be taken in later. */
static bool was_stored(Store *store, Spool *spool, Draft *draft, bool *stored, GError **error)
{
    int64_t number;
    const EntryName *name = draft_name(draft);
    g_autofree char *effect = name_effect(draft_queue(draft), name->hash);
    Queue *queue = spool_queue(spool, draft_queue(draft), error);
    if (!queue || !store_find_effect(store, effect, stored, &number, error))
        return false;
    if (*stored)
        return true;
    char text[NAME_SIZE];
    name_format(name, text);
    g_autofree char *temporary = g_strconcat(text, ".tmp", NULL);
    g_autoptr(GError) fault = NULL;
    if (!fs_unlink(queue_fd(queue), temporary, &fault) && !g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    queue_look_again(queue);
    return queue_held(queue, name->hash, stored, error);
}

static bool sort_row(Store *store, Spool *spool, const OutboxRow *row, GError **error)
{
    g_autoptr(Draft) draft = row_draft(row, NULL);
    bool stored, there;
    if (!draft) /* outbox_old_store() tells why */
        return true;
    return was_stored(store, spool, draft, &stored, error) &&
           (!stored || outbox_take(store, row->number, &there, error));
}

static bool any(Store *store, const char *queue, bool *there, GError **error)
{
    g_autoptr(GPtrArray) rows = outbox_waiting(store, queue, error);
    *there = rows && rows->len > 0;
    return rows != NULL;
}

static bool end(Store *store, bool done, GError **error)
{
    if (done)
        return store_commit(store, error);
    store_rollback(store);
    return false;
}

bool outbox_old_sort(Store *store, Spool *spool, const char *queue, GError **error)
{
    bool there;
    if (!any(store, queue, &there, error))
        return false;
    if (!there)
        return true;
    if (!store_begin(store, error))
        return false;
    g_autoptr(GPtrArray) rows = outbox_waiting(store, queue, error); /* of several that start one does all */
    bool done = rows != NULL;
    for (guint at = 0; done && at < rows->len; at++)
        done = sort_row(store, spool, rows->pdata[at], error);
    return end(store, done, error);
}

static bool take_row(Store *store, const void *data, bool *there, GError **error)
{
    return outbox_take(store, *(const int64_t *)data, there, error);
}

static bool store_row(Store *store, Spool *spool, const OutboxRow *row, GError **error)
{
    g_autoptr(GPtrArray) drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    Draft *draft = row_draft(row, error);
    if (!draft)
        return false;
    g_ptr_array_add(drafts, draft);
    return unit_hand_over(store, spool, drafts, take_row, &row->number, error);
}

bool outbox_old_store(Store *store, Spool *spool, const char *queue, GError **error)
{
    g_autoptr(GPtrArray) rows = outbox_waiting(store, queue, error);
    bool done = rows != NULL;
    for (guint at = 0; rows && at < rows->len; at++)
        done = store_row(store, spool, rows->pdata[at], done ? error : NULL) && done;
    return done;
}
