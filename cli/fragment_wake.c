/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/fragment_wake.h"

#include "runners/keys.h"
#include "switchboard/intake.h"
#include "switchboard/slice.h"

static Draft *make_draft(const FragmentSet *set)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, set->list_id);
    meta_set_string(meta, META_SHARD, set->key);
    meta_set_string(meta, KEY_WAKE, set->key);
    return draft_new("defragment", meta);
}

static bool store(Spool *spool, Draft *draft, GError **error)
{
    Intake intake = {.draft = draft};
    if (intake_store(spool, &intake, 1, false))
        return true;
    g_propagate_error(error, intake.error);
    return false;
}

bool fragment_wake(Spool *spool, const FragmentSet *set, GError **error)
{
    g_autoptr(Draft) draft = make_draft(set);
    return store(spool, draft, error);
}

typedef struct PreparedWake {
    GPtrArray *drafts;
    bool slices[SLICE_COUNT_MAX]; /* those that an entry comes to */
    int64_t sets, parts;
} PreparedWake;

static bool prepare(const FragmentSet *set, void *data)
{
    PreparedWake *prepared = data;
    if (set->state != FRAGMENT_OPEN && set->state != FRAGMENT_QUARANTINED)
        return true;
    prepared->sets++;
    prepared->parts += set->parts;
    Draft *draft = make_draft(set);
    bool *slice = &prepared->slices[slice_of(draft_name(draft)->hash, SLICE_COUNT_MAX)];
    if (*slice)
        draft_free(draft);
    else
        g_ptr_array_add(prepared->drafts, draft);
    *slice = true;
    return true;
}

GPtrArray *fragment_wake_prepare(Store *store, const char *list_id, const char *host, int64_t *sets, int64_t *parts,
                                 GError **error)
{
    g_autoptr(GPtrArray) drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    PreparedWake prepared = {.drafts = drafts};
    const FragmentChoice choice = {.list_id = list_id, .host = host, .every_state = true};
    if (!fragment_each(store, &choice, prepare, &prepared, error))
        return NULL;
    *sets = prepared.sets;
    *parts = prepared.parts;
    return g_steal_pointer(&drafts);
}

bool fragment_wake_store(Spool *spool, const GPtrArray *drafts, GError **error)
{
    for (guint i = 0; i < drafts->len; i++)
        if (!store(spool, drafts->pdata[i], error))
            return false;
    return true;
}
