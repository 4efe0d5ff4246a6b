/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/fragment_wake.h"

#include "lists/keys.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"

json_t *fragment_wake_meta(const FragmentSet *set)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, set->list_id);
    meta_set_string(meta, META_SHARD, set->key);
    meta_set_string(meta, KEY_WAKE, set->key);
    return meta;
}

bool fragment_wake(Spool *spool, const FragmentSet *set, GError **error)
{
    g_autoptr(Draft) draft = draft_new("defragment", fragment_wake_meta(set));
    Intake intake = {.draft = draft};
    if (intake_store(spool, &intake, 1, false))
        return true;
    g_propagate_error(error, intake.error);
    return false;
}
