/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Making one thing of several entries: those that a handler finds, takes, leaves or lets wait (runner.h). */
#include <string.h>

#include "base/fail.h"
#include "runners/runner_internal.h"

/* The place of an entry in the batch; -1 when it is not there. */
static gssize place_of(const Runner *runner, const uint8_t hash[HASH_SIZE])
{
    for (size_t i = 0; i < runner->in_batch; i++)
        if (runner->batch[i]->parent && memcmp(entry_name(runner->batch[i]->parent)->hash, hash, HASH_SIZE) == 0)
            return (gssize)i;
    return -1;
}

static Found *found_of(const Runner *runner, const uint8_t hash[HASH_SIZE])
{
    for (guint i = runner->found->len; i > 0; i--) {
        Found *found = &g_array_index(runner->found, Found, i - 1);
        if (memcmp(found->name.hash, hash, HASH_SIZE) == 0)
            return found;
    }
    return NULL;
}

void runner_wait(Runner *runner, Outcome *outcome, int64_t due)
{
    gssize place = place_of(runner, entry_name(outcome->parent)->hash);
    runner->fates[place].wait = due;
}

bool runner_find(Runner *runner, const uint8_t hash[HASH_SIZE], int64_t due, Entry **entry, GError **error)
{
    gssize place = place_of(runner, hash);
    *entry = place >= 0 ? runner->batch[place]->parent : NULL;
    if (place >= 0 && (runner->fates[place].taker || runner->batch[place]->error))
        return fail(error, FAIL_LATER, "%s is in other hands", entry_text(*entry));
    if (place >= 0)
        return true;
    g_clear_pointer(&runner->looked_at, entry_free);
    g_autoptr(GError) fault = NULL;
    runner->looked_at = inbox_claim_hash(runner->inbox, hash, due, &fault);
    if (fault)
        return fail_with(error, &fault);
    *entry = runner->looked_at;
    if (*entry) {
        Found found = {.name = *entry_name(*entry)};
        g_array_append_val(runner->found, found);
    }
    return true;
}

void runner_take(Runner *runner, Outcome *outcome, const uint8_t hash[HASH_SIZE])
{
    gssize place = place_of(runner, hash);
    Found *found = place < 0 ? found_of(runner, hash) : NULL;
    if (place >= 0)
        runner->fates[place].taker = outcome;
    else if (found)
        found->taker = outcome;
    outcome_take(outcome, place >= 0 ? entry_name(runner->batch[place]->parent) : &found->name);
}

bool runner_leave(Runner *runner, const uint8_t hash[HASH_SIZE], int64_t due, GError **error)
{
    gssize place = place_of(runner, hash);
    if (place >= 0) {
        if (due > 0 && runner->fates[place].wait > 0)
            runner->fates[place].wait = due;
        return true;
    }
    Found *found = found_of(runner, hash);
    g_clear_pointer(&runner->looked_at, entry_free);
    if (!found || !inbox_release_name(runner->inbox, &found->name, due, error))
        return found == NULL;
    g_array_remove_index_fast(runner->found, (guint)(found - (Found *)(void *)runner->found->data));
    return true;
}

void take_undo(Runner *runner, Outcome *outcome)
{
    g_clear_pointer(&outcome->taken, g_array_unref);
    for (size_t i = 0; i < runner->in_batch; i++)
        if (runner->fates[i].taker == outcome)
            runner->fates[i].taker = NULL;
    for (guint i = 0; i < runner->found->len; i++) {
        Found *found = &g_array_index(runner->found, Found, i);
        if (found->taker == outcome)
            found->taker = NULL;
    }
}

void take_settle(Runner *runner)
{
    g_clear_pointer(&runner->looked_at, entry_free);
    for (guint i = 0; i < runner->found->len; i++) {
        const Found *found = &g_array_index(runner->found, Found, i);
        g_autoptr(GError) error = NULL;
        if ((!found->taker || found->taker->error) && !inbox_release_name(runner->inbox, &found->name, 0, &error))
            runner_die("put an entry back", error);
    }
    g_array_set_size(runner->found, 0);
}
