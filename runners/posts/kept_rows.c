/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/kept_rows.h"

#include "base/log.h"
#include "store/outbox.h"

/* An entry of the batch that has rows. */
typedef struct Noted {
    char *key;
    const Outcome *outcome; /* borrowed until the batch is settled */
} Noted;

struct KeptRows {
    KeptKey key;
    GArray *batch;   /* of Noted */
    GPtrArray *done; /* of char *: keys of rows that are needed no more */
};

static void noted_clear(void *data)
{
    g_free(((Noted *)data)->key);
}

bool kept_rows_start(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    KeptRows *rows = own->rows = g_new0(KeptRows, 1);
    g_autoptr(GError) stay = NULL;
    rows->done = g_ptr_array_new_with_free_func(g_free);
    rows->batch = g_array_new(FALSE, FALSE, sizeof(Noted));
    g_array_set_clear_func(rows->batch, noted_clear);
    own->site.kept_key = &rows->key;
    if (!kept_key_read(runner_spool(runner), &rows->key, error))
        return false;
    if (!kept_forget_gone(own->store, runner_spool(runner), INT64_MAX, &stay))
        log_warn("rows of mail that was sent stay in the outbox: %s", stay->message);
    return true;
}

void kept_rows_note(ListRunner *own, const char *key, const Outcome *outcome)
{
    Noted noted = {g_strdup(key), outcome};
    g_array_append_val(own->rows->batch, noted);
}

static bool remove_done(ListRunner *own, GError **error)
{
    for (guint at = 0; at < own->rows->done->len; at++)
        if (!outbox_remove_of(own->store, own->rows->done->pdata[at], error))
            return false;
    return true;
}

static bool drop(ListRunner *own, GError **error)
{
    if (own->rows->done->len == 0)
        return true;
    if (!store_begin_people(own->store, NULL, error))
        return false;
    if (!list_runner_end(own, remove_done(own, error), error))
        return false;
    g_ptr_array_set_size(own->rows->done, 0);
    return true;
}

bool kept_rows_begin(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    g_array_set_size(own->rows->batch, 0);
    return list_runner_refresh(runner, error) && drop(own, error);
}

/* Called after a batch that failed, too. An entry whose letters could not be written comes again and needs its rows. */
void kept_rows_committed(Runner *runner)
{
    KeptRows *rows = ((ListRunner *)runner_data(runner))->rows;
    for (guint at = 0; at < rows->batch->len; at++) {
        Noted *noted = &g_array_index(rows->batch, Noted, at);
        if (!noted->outcome->error)
            g_ptr_array_add(rows->done, g_steal_pointer(&noted->key));
    }
    g_array_set_size(rows->batch, 0);
}

void kept_rows_idle(Runner *runner)
{
    g_autoptr(GError) stay = NULL;
    if (!drop(runner_data(runner), &stay))
        log_warn("rows of mail that was sent stay in the outbox: %s", stay->message);
}

void kept_rows_end(ListRunner *own)
{
    if (!own->rows)
        return;
    drop(own, NULL);
    g_ptr_array_unref(own->rows->done);
    g_array_unref(own->rows->batch);
    g_clear_pointer(&own->rows, g_free);
}
