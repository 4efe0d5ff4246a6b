/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * This makes what happens by time: warnings, removals, scores that turn stale. Members for whom something is due are
 * found by an index and written into entries of our own queue, so that what follows is one hop like any other. One that
 * is written twice does nothing: the member's next time is another by then.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/people/leave.h"
#include "lists/people/roster.h"
#include "mail/address.h"
#include "runners/bounces/letters.h"
#include "store/lists/list_setting.h"
#include "switchboard/intake.h"

#define DUE_MAX 1000 /* members that are looked for at once */

/* ---- gathering ---- */

static bool gather(const BounceScore *score, void *data)
{
    GHashTable *lists = data;
    json_t *members = g_hash_table_lookup(lists, score->list_id);
    if (!members) {
        members = json_array();
        g_hash_table_insert(lists, g_strdup(score->list_id), members);
    }
    json_array_append_new(members, json_pack("{ss ss sI}", "member", score->member_id, "address", score->address, "at",
                                             (json_int_t)score->next_at));
    return true;
}

bool due_gather(Bounces *bounces, Spool *spool, GError **error)
{
    g_autoptr(GHashTable) lists =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)json_decref);
    if (!bounce_score_due(bounces->shared->store, clock_now(), DUE_MAX, gather, lists, error))
        return false;
    GHashTableIter iter;
    void *list_id, *members;
    g_hash_table_iter_init(&iter, lists);
    while (g_hash_table_iter_next(&iter, &list_id, &members)) {
        json_t *meta = json_object();
        meta_set_string(meta, META_LIST, list_id);
        meta_set_string(meta, KEY_TO, TO_BOUNCES);
        meta_set_integer(meta, META_ORDINAL, clock_unique() % INT64_C(1000000000000));
        json_object_set(meta, KEY_DUE, members);
        g_autoptr(Draft) draft = draft_new(bounces->queue, meta);
        Intake one = {.draft = draft};
        if (!intake_store(spool, &one, 1, false)) {
            g_propagate_prefixed_error(error, one.error, "members that are due: ");
            return false;
        }
    }
    return true;
}

/* ---- times that lie ahead ---- */

#define AHEAD (60 * CLOCK_SECOND) /* by which the clocks of hosts may differ */

typedef struct Believe {
    Store *store;
    int64_t now;
    GError *error;
    int number;
} Believe;

static bool believe_one(const BounceScore *found, void *data)
{
    Believe *believe = data;
    BounceScore score = *found; /* its strings stay the caller's */
    score_believe(&score, believe->now);
    believe->number++;
    if (bounce_score_write(believe->store, &score, &believe->error))
        return true;
    if (!g_error_matches(believe->error, FAIL, FAIL_MISSING))
        return false;
    g_clear_error(&believe->error); /* the member has left meanwhile */
    return true;
}

bool due_believe(Bounces *bounces, GError **error)
{
    Store *store = bounces->shared->store;
    int64_t now = clock_now();
    int number;
    do {
        Believe believe = {.store = store, .now = now};
        if (!bounce_score_ahead(store, now + AHEAD, DUE_MAX, believe_one, &believe, error))
            return false;
        if (believe.error)
            return fail_with(error, &believe.error);
        number = believe.number;
    } while (number == DUE_MAX);
    return true;
}

/* ---- doing ---- */

/* Do what is due for a member whose time was not moved meanwhile. False with FAIL_MISSING: the member is gone. */
static bool act(Case *given, const json_t *due, const char *effect, BounceScore *score, unsigned *acts, GError **error)
{
    Store *store = given->bounces->shared->store;
    ScoreRules rules = score_rules(given->list, given->bounces->probes);
    if (!bounce_score_read(store, meta_string(due, "member", ""), score, error))
        return false;
    if (score->next_at != meta_integer(due, "at", 0))
        return true;
    if (score->disabled_at && score->status != DELIVERY_BY_BOUNCES)
        score_forgive(score);
    if (!given->list->settings->process_bounces) {
        score->next_at = given->now + BOUNCE_DAY; /* nobody is removed while the list does not look at bounces */
        return bounce_score_write(store, score, error) &&
               (*acts == 0 || case_record(given, effect, acts, error));
    }
    *acts = score_due(&rules, score, given->now);
    if (*acts & SCORE_REMOVE) {
        g_autoptr(Work) work = case_work(given, DOOR_TIMER);
        const char *way = leave_way_text(LEAVE_BY_BOUNCES);
        g_autoptr(Mailbox) address = mailbox_new(score->address);
        if (!member_remove(store, score->list_id, ROLE_MEMBER, address, error) ||
            !roster_log_left(work, score->list_id, ROLE_MEMBER, score->address, way, error))
            return false;
    } else if (!bounce_score_write(store, score, error)) {
        return false;
    }
    return *acts == 0 || case_record(given, effect, acts, error);
}

static bool one_member(Case *given, const json_t *due, GError **error)
{
    Store *store = given->bounces->shared->store;
    g_autoptr(GError) fault = NULL;
    const char *member_id = meta_string(due, "member", ""), *address = meta_string(due, "address", "");
    g_autofree char *effect = g_strconcat(given->key, ":", member_id, NULL);
    bool before;
    unsigned acts;
    if (!case_find(given, effect, &before, &acts, error))
        return false;
    g_auto(BounceScore) score = {0};
    bool there = before ? bounce_score_read(store, member_id, &score, &fault)
                        : act(given, due, effect, &score, &acts, &fault);
    if (!there && !g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    if (acts)
        list_runner_log(given->entry, "address=<%s> warnings=%d result=%s", address, (int)score.warnings,
                        acts & SCORE_REMOVE ? "removed way=bounces" : "warned");
    Letter letter = {.address = address, .warnings = score.warnings, .next_at = score.next_at, .acts = acts};
    return letters_send(given, &letter, error);
}

bool case_due(Case *given, GError **error)
{
    size_t at;
    json_t *due;
    json_array_foreach(json_object_get(entry_meta(given->entry), KEY_DUE), at, due)
        if (!one_member(given, due, error))
            return false;
    return true;
}
