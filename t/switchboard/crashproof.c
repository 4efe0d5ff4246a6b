/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/switchboard/crashproof.h"

#include <string.h>

#include "t/switchboard/crashmodel_internal.h"

/* Where only faults of memory are looked for, one of so many states is drained. */
#ifdef __SANITIZE_ADDRESS__
#define SAMPLE 11
#else
#define SAMPLE 97
#endif

/* Second cuts and kills are as many times fewer than a script asks for, save with -m thorough. */
#define FEWER (g_test_thorough() ? 1 : 3)

static const CrashMutation as_is = {.change = CRASH_AS_IS};

void crashproof_init(Proof *proof, const Script *script, CrashWorld *world, CrashLog *log)
{
    *proof = (Proof){.script = script, .world = world, .log = log};
    proof->results = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)crashresult_free);
    proof->outcomes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)g_array_unref);
}

void crashproof_clear(Proof *proof)
{
    g_hash_table_unref(proof->results);
    g_hash_table_unref(proof->outcomes);
    g_free(proof->violation);
}

static void count_state(Proof *proof, const CrashState *state, CrashResult *result)
{
    proof->states++;
    char *fault = proof->world->judge(result, &state->notes);
    if (fault)
        proof->violation = g_strdup_printf("power cut after operation %u: %s", state->after, fault);
    g_free(fault);
}

static CrashResult *result_of(Proof *proof, const CrashState *state)
{
    CrashResult *result = g_hash_table_lookup(proof->results, &state->hash);
    if (!result) {
        result = proof->world->drain(proof->world, state);
        g_hash_table_insert(proof->results, g_memdup2(&state->hash, sizeof state->hash), result);
    }
    return result;
}

static bool try_state(void *data, const CrashState *state)
{
    Proof *proof = data;
    count_state(proof, state, result_of(proof, state));
    return proof->violation == NULL;
}

/* Return what may come of a state, as a number. */
static uint64_t outcome_of(const CrashResult *result, const CrashNotes *notes)
{
    CrashResult plain = *result;
    plain.fault = NULL;
    plain.free &= notes->held; /* of others nobody cares */
    return crash_hash(CRASH_HASH_START, &plain, sizeof plain);
}

static bool promise_same(const CrashNotes *a, const CrashNotes *b)
{
    return crashnotes_promise_less(a, b) && crashnotes_promise_less(b, a);
}

/* One that could come at that moment of the log as it is, with what was promised then. */
typedef struct Moment {
    CrashNotes notes;
    guint after;
} Moment;

static void keep_outcome(Proof *proof, const CrashResult *result, const CrashState *state)
{
    uint64_t hash = outcome_of(result, &state->notes);
    GArray *found = g_hash_table_lookup(proof->outcomes, &hash);
    if (!found) {
        found = g_array_new(FALSE, FALSE, sizeof(Moment));
        g_hash_table_insert(proof->outcomes, g_memdup2(&hash, sizeof hash), found);
    }
    Moment moment = {state->notes, state->after};
    if (found->len == 0 || g_array_index(found, Moment, found->len - 1).after != state->after)
        g_array_append_val(found, moment);
}

/* Whether that could come of the log as it is, too: with just as much promised; or, at a moment of the steps that are
 * changed about, with no less. */
static bool is_known(const Proof *proof, const CrashResult *result, const CrashNotes *notes)
{
    uint64_t hash = outcome_of(result, notes);
    const GArray *found = g_hash_table_lookup(proof->outcomes, &hash);
    for (guint i = 0; found && i < found->len; i++) {
        const Moment *moment = &g_array_index(found, Moment, i);
        bool within = moment->after >= proof->changed.at && moment->after <= proof->changed.to + 1;
        if (promise_same(notes, &moment->notes) || (within && crashnotes_promise_less(notes, &moment->notes)))
            return true;
    }
    return false;
}

/* Of a changed log, all whose states are sound. */
static bool compare_state(void *data, const CrashState *state)
{
    Proof *proof = data;
    proof->fresh += state->fresh;
    proof->other += state->fresh && !is_known(proof, result_of(proof, state), &state->notes);
    return true;
}

void crashproof_print_steps(const CrashLog *log)
{
    for (guint i = log->first; i < log->ops->len; i++)
        g_test_message("%u %s", i, crashlog_text(&g_array_index(log->ops, CrashOp, i)));
}

/* Puts the state on the disk and lets everything start and work, which the log records; then the power goes, anywhere
 * in that. */
static void drain_and_cut(Proof *proof, CrashLog *log, const CrashState *state)
{
    log->orderly = true;
    proof->world->log = log;
    crashlog_record(log);
    CrashResult *result = proof->world->drain(proof->world, state);
    crashlog_stop();
    proof->world->log = NULL;
    count_state(proof, state, result);
    crashresult_free(result);
    g_autofree char *missed = crashlog_misses(log, proof->world->path);
    if (missed)
        g_error("the log does not say how %s came about", missed);
    if (!proof->violation)
        crashlog_states(log, as_is, try_state, proof);
}

/* As try_state, and the power goes once more, anywhere in the recovery from the first cut or in the work after it. */
static bool try_twice(void *data, const CrashState *state)
{
    Proof *proof = data;
    bool known = g_hash_table_contains(proof->results, &state->hash);
    bool sound = try_state(data, state);
    keep_outcome(proof, result_of(proof, state), state);
    if (!sound || known || proof->deep++ % (proof->script->deep * FEWER) != 0)
        return proof->violation == NULL;
    g_autoptr(CrashLog) log = crashlog_new();
    crashlog_load(log, state);
    unsigned before = proof->states;
    drain_and_cut(proof, log, state);
    proof->second += proof->states - before;
    proof->states = before;
    return proof->violation == NULL;
}

void crashproof_killed(Proof *proof, CrashMutation mutation, guint upto)
{
    CrashState state;
    if (proof->world->worn)
        return;
    g_autoptr(CrashLog) log = crashlog_killed(proof->log, mutation, upto, &state);
    unsigned before = proof->states;
    drain_and_cut(proof, log, &state);
    if (proof->violation && g_test_verbose()) {
        g_test_message("killed after %u: %s", upto, proof->violation);
        crashproof_print_steps(log);
    }
    proof->after_kill += proof->states - before;
    proof->states = before;
    crashstate_clear(&state);
}

/* At every step with -m thorough, else at some, one at least. */
static void kill_anywhere(Proof *proof)
{
    const CrashLog *log = proof->log;
    guint every = g_test_thorough() ? 1 : MIN(FEWER * (4 + proof->script->deep / 10), log->ops->len - log->first);
    for (guint upto = log->first + every / 2; upto <= log->ops->len && !proof->violation; upto += every)
        crashproof_killed(proof, as_is, upto);
}


void crashproof_all(Proof *proof)
{
    crashlog_states(proof->log, as_is, try_twice, proof);
    if (!proof->violation)
        kill_anywhere(proof);
}

static bool try_sampled(void *data, const CrashState *state)
{
    return state->hash % SAMPLE != 0 || try_state(data, state);
}

void crashproof_sampled(Proof *proof)
{
    crashlog_states(proof->log, as_is, try_sampled, proof);
}

bool crashproof_changed(Proof *proof, CrashMutation mutation)
{
    mutation.compare = false;
    return crashlog_states(proof->log, mutation, try_state, proof);
}

void crashproof_compare(Proof *proof, CrashMutation mutation)
{
    proof->fresh = proof->other = 0;
    proof->changed = mutation;
    mutation.compare = true;
    crashlog_states(proof->log, mutation, compare_state, proof);
}
