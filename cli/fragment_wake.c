/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/fragment_wake.h"

#include "runners/keys.h"
#include "switchboard/intake.h"

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
