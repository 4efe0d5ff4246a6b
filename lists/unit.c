/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/unit.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "lists/kept.h"
#include "store/outbox.h"
#include "switchboard/prepared.h"

/* ---- commit ---- */

/* A commit that failed may be in the database's log nevertheless, and be found there after a crash. To ask is to
 * overwrite it, unless it is there for good. */
static bool commit(Store *store, const char *spool, const char *tag, bool *committed, GError **error)
{
    g_autoptr(GError) fault = NULL, unknown = NULL;
    *committed = store_commit(store, &fault);
    if (*committed)
        return true;
    if (outbox_unit_decide(store, spool, tag, clock_now(), committed, &unknown)) {
        if (!*committed)
            g_propagate_error(error, g_steal_pointer(&fault));
        return true;
    }
    g_propagate_prefixed_error(
        error, g_steal_pointer(&fault),
        "nobody knows whether this was done until the database can be written (%s): ", unknown->message);
    return false;
}

static void queue_add(GString *queues, const char *name)
{
    g_auto(GStrv) all = g_strsplit(queues->str, " ", -1);
    if (!g_strv_contains((const char *const *)all, name))
        g_string_append_printf(queues, " %s", name);
}

/* Write the rows of a unit in the transaction that decides it. */
static bool keep(Store *store, const KeptKey *key, const char *tag, GPtrArray *drafts, GError **error)
{
    g_autoptr(GString) queues = g_string_new(OUTBOX_KEPT);
    for (guint at = 0; at < drafts->len; at++)
        queue_add(queues, draft_queue(drafts->pdata[at]));
    return kept_add_drafts(store, key, tag, drafts, error) &&
           outbox_unit_add(store, key->spool, tag, queues->str, clock_now(), error);
}

/* Take is the function that removes rows, with its data. */
/* The rows under the tag `kept` go in the transaction in which the prepared entries begin to count. *over is set where
 * the rows are gone: the transaction was rolled back. */
static bool swap(Store *store, const char *spool, const Prepared *prepared, const char *kept, bool *over,
                 GError **error)
{
    g_autofree char *queues = prepared_queues(prepared);
    bool there = false;
    if (!store_begin_rows_durable(store, error))
        return false;
    bool taken = outbox_unit_take_kept(store, kept, &there, error);
    if (taken && there && outbox_unit_add(store, spool, prepared_tag(prepared), queues, clock_now(), error))
        return true;
    store_rollback(store);
    *over = taken && !there;
    return false;
}

bool unit_hand_over(Store *store, Spool *spool, GPtrArray *drafts, const char *kept, GError **error)
{
    const char *id = spool_id(spool, error);
    g_autoptr(Prepared) prepared = id ? prepared_new(spool, error) : NULL;
    if (!prepared || !prepared_write(prepared, drafts, error))
        return false;
    bool over = false, committed = false;
    if (swap(store, id, prepared, kept, &over, error) && !commit(store, id, prepared_tag(prepared), &committed, error))
        return false; /* it is found out later whether the prepared entries count */
    if (committed)
        prepared_publish(prepared);
    else
        prepared_withdraw(prepared);
    return committed || over;
}

bool unit_commit(Store *store, Spool *spool, GPtrArray *drafts, GError **error)
{
    KeptKey key;
    bool committed = false;
    g_autoptr(GError) waits = NULL;
    g_autoptr(Prepared) kept = kept_key_read(spool, &key, error) ? prepared_new(spool, error) : NULL;
    if (!kept || !keep(store, &key, prepared_tag(kept), drafts, error)) {
        store_rollback(store);
        return false;
    }
    if (!commit(store, key.spool, prepared_tag(kept), &committed, error) || !committed)
        return false;
    if (!unit_hand_over(store, spool, drafts, prepared_tag(kept), &waits))
        log_error("%s; the mail of a change that was made waits in the database, and is put into its queues later",
                  waits->message);
    return true;
}

/* ---- settle ---- */

/* Whom to ask about the units of a spool. */
typedef struct Asked {
    Store *store;
    const char *spool;
} Asked;

static bool decide(void *data, const char *tag, bool *committed, GError **error)
{
    const Asked *asked = data;
    return outbox_unit_decide(asked->store, asked->spool, tag, clock_now(), committed, error);
}

static Queue *settle(Store *store, Spool *spool, const char *name, GHashTable *left, GError **error)
{
    Asked asked = {store, spool_id(spool, error)};
    Queue *queue = asked.spool ? spool_queue(spool, name, error) : NULL;
    return queue && prepared_settle(queue, decide, &asked, left, error) ? queue : NULL;
}

/* Store the entries of a unit that are in rows still, unless its writer lives and does that itself. */
static bool take_up(Store *store, Spool *spool, const KeptKey *key, const char *tag, GError **error)
{
    g_autoptr(GError) living = NULL;
    g_autoptr(Prepared) kept = prepared_adopt(spool, tag, &living);
    if (!kept)
        return fail_unless(error, FAIL_RACE, &living);
    g_autoptr(GPtrArray) drafts = kept_drafts(store, key, tag, error);
    if (!drafts || drafts->len == 0) /* its writer, or another, has stored them since the unit was read */
        return drafts != NULL;
    log_info("%u entries of a change that was cut short are put into their queues", drafts->len);
    return unit_hand_over(store, spool, drafts, tag, error);
}

/* Take up all units whose entries are in rows. *any: there was one. The key is made here where there is none, so that
 * unit_commit() need not make and sync it in its transaction. */
static bool take_up_all(Store *store, Spool *spool, const GPtrArray *units, bool *any, GError **error)
{
    KeptKey key;
    bool done = true;
    *any = false;
    if (!kept_key_read(spool, &key, error))
        return false;
    for (guint i = 0; i < units->len; i++) {
        const OutboxUnit *unit = units->pdata[i];
        if (!outbox_unit_is_kept(unit))
            continue;
        *any = true;
        done = take_up(store, spool, &key, unit->tag, done ? error : NULL) && done;
    }
    return done;
}

bool unit_settle_queue(Store *store, Spool *spool, const char *queue, GError **error)
{
    bool any;
    const char *id = spool_id(spool, error);
    g_autoptr(GPtrArray) units = id ? outbox_units(store, id, error) : NULL;
    bool done = units && take_up_all(store, spool, units, &any, error);
    return settle(store, spool, queue, NULL, done ? error : NULL) && done;
}

/* The queues that are looked through, and the findings. */
typedef struct Settling {
    Store *store;
    Spool *spool;
    GPtrArray *units;   /* of OutboxUnit, as they were before any queue was looked through */
    GHashTable *wanted; /* names of queues */
    GPtrArray *queues;  /* of Queue: those of them that were looked through */
    GHashTable *sound;  /* their names */
    GHashTable *left;   /* tags of which there are files still */
} Settling;

static void want(Settling *settling, const char *names)
{
    g_auto(GStrv) all = g_strsplit(names, " ", -1);
    for (char **name = all; *name; name++)
        if (**name)
            g_hash_table_add(settling->wanted, g_strdup(*name));
}

static bool want_all(Settling *settling, GError **error)
{
    g_auto(GStrv) names = spool_queue_names(settling->spool, error);
    g_autofree char *joined = names ? g_strjoinv(" ", names) : NULL;
    if (joined)
        want(settling, joined);
    return joined != NULL;
}

static bool settle_wanted(Settling *settling, GError **error)
{
    GHashTableIter iter;
    gpointer name;
    bool done = true;
    g_hash_table_iter_init(&iter, settling->wanted);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        Queue *queue = settle(settling->store, settling->spool, name, settling->left, done ? error : NULL);
        done = done && queue;
        if (!queue) /* its rows stay until the next time */
            continue;
        g_ptr_array_add(settling->queues, queue);
        g_hash_table_add(settling->sound, g_strdup(name));
    }
    return done;
}

static bool is_over(const Settling *settling, const OutboxUnit *unit)
{
    g_auto(GStrv) names = g_strsplit(unit->queues, " ", -1);
    if (outbox_unit_is_kept(unit))
        return false;
    for (char **name = names; *name; name++)
        if (**name && !g_hash_table_contains(settling->sound, *name))
            return false;
    return !g_hash_table_contains(settling->left, unit->tag);
}

static bool sync_queues(const Settling *settling, GError **error)
{
    g_autofree FsSync *syncs = g_new0(FsSync, settling->queues->len);
    for (guint i = 0; i < settling->queues->len; i++)
        syncs[i] = (FsSync){.fd = queue_fd(settling->queues->pdata[i]), .directory = true};
    return settling->queues->len == 0 || fs_sync_group(syncs, settling->queues->len, error);
}

static bool remove_rows(const Settling *settling, GError **error)
{
    bool done = store_begin_people(settling->store, NULL, error);
    if (!done)
        return false;
    for (guint i = 0; done && i < settling->units->len; i++) {
        const OutboxUnit *unit = settling->units->pdata[i];
        done = !is_over(settling, unit) || outbox_unit_remove(settling->store, unit->tag, error);
    }
    if (done)
        return store_commit(settling->store, error);
    store_rollback(settling->store);
    return false;
}

/* The order is what makes it safe to remove a row: it was committed when it was read, so all its files were there; then
 * none was seen, so all were renamed or unlinked; then that was synced. A row that was given up may go before its
 * files, because its writer is dead for certain (its lock was free, and a writer holds that until its commit is over):
 * should the tag be asked for again, it is given up again. */
static bool settle_all(Settling *settling, bool thorough, GError **error)
{
    g_autoptr(GError) first = NULL;
    for (guint i = 0; i < settling->units->len; i++) {
        const OutboxUnit *unit = settling->units->pdata[i];
        if (!outbox_unit_is_kept(unit))
            want(settling, unit->queues);
    }
    if (thorough && !want_all(settling, error))
        return false;
    bool settled = settle_wanted(settling, &first);
    if (settling->units->len > 0 && (!sync_queues(settling, error) || !remove_rows(settling, error)))
        return false;
    if (!settled)
        g_propagate_error(error, g_steal_pointer(&first));
    return settled;
}

static bool settle_units(Store *store, Spool *spool, GPtrArray *units, bool thorough, GError **error)
{
    g_autoptr(GPtrArray) queues = g_ptr_array_new();
    g_autoptr(GHashTable) wanted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) sound = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) left = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Settling settling = {store, spool, units, wanted, queues, sound, left};
    return settle_all(&settling, thorough, error);
}

bool unit_settle(Store *store, Spool *spool, bool thorough, GError **error)
{
    const char *id = spool_id(spool, error);
    g_autoptr(GPtrArray) units = id ? outbox_units(store, id, error) : NULL;
    g_autoptr(GError) first = NULL;
    bool any = false;
    if (!units)
        return false;
    bool taken = take_up_all(store, spool, units, &any, &first);
    g_autoptr(GPtrArray) now = any ? outbox_units(store, id, taken ? error : NULL) : g_ptr_array_ref(units);
    bool settled = now && settle_units(store, spool, now, thorough, taken ? error : NULL);
    if (!taken)
        g_propagate_error(error, g_steal_pointer(&first));
    return taken && settled;
}
