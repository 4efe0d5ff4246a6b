/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The proof that nothing is lost and nothing done twice, by every state that a power cut can leave (crashlog.h) of
 * scripted runs that make every transition of switchboard/INTERNALS.md: recover, drain, compare with what was promised.
 * The same after a kill, from which others go on. Then the proof of the proof: leave out any one sync, or let any step
 * and the next change places, and a violation must be found, unless it is shown that nothing else can come of it.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "switchboard/intake.h"
#include "switchboard/recover.h"
#include "t/switchboard/crashmodel_internal.h"
#include "t/switchboard/crashscripts.h"

/* Where only faults of memory are looked for, one of so many states is drained. */
#ifdef __SANITIZE_ADDRESS__
#define SAMPLE 11
#else
#define SAMPLE 97
#endif

static CrashWorld *world;

typedef struct Script {
    const char *name;
    void (*run)(CrashWorld *world);
    unsigned deep; /* of the distinct states, every so many has its recovery cut short as well */
} Script;

static const Script scripts[] = {
    {"intake", crashscript_intake, 200},
    {"hops", crashscript_hops, 900},
    {"together", crashscript_together, 100},
    {"chain", crashscript_chain, 100},
    {"deliver", crashscript_deliver, 60},
    {"ledger", crashledger_script, 20},
    {"preserve", crashscript_preserve, 1},
    {"sweep", crashscript_sweep, 1},
    {"damage", crashscript_damage, 1},
    {"killed deciding", crashscript_killed_deciding, 60},
    {"killed together", crashscript_killed_together, 200},
    {"killed intake", crashscript_killed_intake, 20},
    {"stored again", crashscript_stored_again, 20},
    {"killed publishing", crashscript_killed_publishing, 60},
    {"killed before", crashscript_killed_before, 20},
    {"killed undoing", crashscript_killed_undoing, 2000},
    {"failed", crashscript_failed, 20},
    {"poison", crashscript_poison, 5},
    {"acts", crashscript_acts, 5},
    {"takes", crashscript_takes, 300},
    {"takes and dies", crashscript_takes_and_dies, 300},
    {"operator holds", crashoperator_hold, 900},
    {"operator requeues", crashoperator_again, 20},
    {"operator deletes", crashoperator_delete, 20},
    {"operator unlinks", crashoperator_unlink, 20},
    {"operator and leftovers", crashoperator_leftovers, 20},
    {"operator after undoing", crashoperator_undone, 100},
    {"operator deletes after undoing", crashoperator_undone_deleted, 20},
    {"operator retries", crashoperator_retry, 20},
    {"operator retries unread", crashoperator_retry_unread, 100},
    {"operator and preserved", crashoperator_preserved, 5},
    {"operator and damage", crashoperator_corrupt, 5},
    {"operator gives back", crashoperator_unread, 5},
    {"operator killed claiming", crashoperator_killed_claiming, 20},
    {"operator killed deciding", crashoperator_killed_deciding, 20},
    {"operator killed publishing", crashoperator_killed_publishing, 20},
};

/* The drains made so far, by state. */
typedef struct Proof {
    const Script *script;
    GHashTable *results; /* of CrashResult */
    GHashTable *outcomes; /* hash of what may come of it -> GArray of CrashNotes */
    unsigned fresh, other; /* states of a changed log that the log as it is does not lead to; with other outcomes */
    unsigned deep, second; /* states that had a second cut; those after it */
    unsigned after_kill;   /* states after a kill and what went on from it */
    CrashLog *log;
    int quiet;           /* where the log of the drains goes */
    char *violation;
    unsigned states;     /* with what was promised then */
} Proof;

static void count_state(Proof *proof, const CrashState *state, CrashResult *result)
{
    proof->states++;
    char *fault = crashworld_judge(result, &state->notes);
    if (fault)
        proof->violation = g_strdup_printf("power cut after operation %u: %s", state->after, fault);
    g_free(fault);
}

static CrashResult *result_of(Proof *proof, const CrashState *state)
{
    CrashResult *result = g_hash_table_lookup(proof->results, &state->hash);
    if (!result) {
        result = crashworld_drain(world, state);
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

/* Whether that came of a state already, with no less promised. With notes that are new, they are kept. */
static bool is_known(Proof *proof, const CrashResult *result, const CrashNotes *notes, bool keep)
{
    CrashResult plain = *result;
    plain.fault = NULL;
    plain.free &= notes->held; /* of others nobody cares */
    uint64_t hash = crash_hash(CRASH_HASH_START, &plain, sizeof plain);
    GArray *found = g_hash_table_lookup(proof->outcomes, &hash);
    for (guint i = 0; found && i < found->len; i++)
        if (crashnotes_promise_less(notes, &g_array_index(found, CrashNotes, i)))
            return true;
    if (!found && keep) {
        found = g_array_new(FALSE, FALSE, sizeof(CrashNotes));
        g_hash_table_insert(proof->outcomes, g_memdup2(&hash, sizeof hash), found);
    }
    if (keep)
        g_array_append_vals(found, notes, 1);
    return false;
}

/* Of a changed log, all whose states are sound. */
static bool compare_state(void *data, const CrashState *state)
{
    Proof *proof = data;
    proof->fresh += state->fresh;
    proof->other += state->fresh && !is_known(proof, result_of(proof, state), &state->notes, false);
    return true;
}

static void print_steps(const CrashLog *log)
{
    for (guint i = log->first; i < log->ops->len; i++)
        g_test_message("%u %s", i, crashlog_text(&g_array_index(log->ops, CrashOp, i)));
}

/* Puts the state on the disk and lets everything start and work, which the log records; then the power goes, anywhere
 * in that. */
static void drain_and_cut(Proof *proof, CrashLog *log, const CrashState *state)
{
    log->orderly = true;
    world->log = log;
    crashlog_record(log);
    CrashResult *result = crashworld_drain(world, state);
    crashlog_stop();
    world->log = NULL;
    count_state(proof, state, result);
    crashresult_free(result);
    if (!proof->violation)
        crashlog_states(log, (CrashMutation){CRASH_AS_IS, 0, false}, try_state, proof);
}

/* As try_state, and the power goes once more, anywhere in the recovery from the first cut or in the work after it. */
static bool try_twice(void *data, const CrashState *state)
{
    Proof *proof = data;
    bool known = g_hash_table_contains(proof->results, &state->hash);
    bool sound = try_state(data, state);
    is_known(proof, result_of(proof, state), &state->notes, true);
    if (!sound || known || proof->deep++ % proof->script->deep != 0)
        return proof->violation == NULL;
    g_autoptr(CrashLog) log = crashlog_new();
    crashlog_load(log, state);
    unsigned before = proof->states;
    drain_and_cut(proof, log, state);
    proof->second += proof->states - before;
    proof->states = before;
    return proof->violation == NULL;
}

/* All processes are killed after so many steps of the log, and others go on from what these have not yet synced. */
static void try_killed(Proof *proof, CrashMutation mutation, guint upto)
{
    CrashState state;
    g_autoptr(CrashLog) log = crashlog_killed(proof->log, mutation, upto, &state);
    unsigned before = proof->states;
    drain_and_cut(proof, log, &state);
    if (proof->violation && g_test_verbose()) {
        g_test_message("killed after %u: %s", upto, proof->violation);
        print_steps(log);
    }
    proof->after_kill += proof->states - before;
    proof->states = before;
    crashstate_clear(&state);
}

/* At every step with -m thorough, else at some, one at least. */
static void kill_anywhere(Proof *proof)
{
    const CrashLog *log = proof->log;
    guint every = g_test_thorough() ? 1 : MIN(4 + proof->script->deep / 10, log->ops->len - log->first);
    for (guint upto = log->first + every / 2; upto <= log->ops->len && !proof->violation; upto += every)
        try_killed(proof, (CrashMutation){CRASH_AS_IS, 0, false}, upto);
}

/* Runs with the log of the switchboard put aside: it tells of each damage. */
static void quietly(Proof *proof, void (*run)(Proof *proof))
{
    int loud = dup(STDERR_FILENO);
    dup2(proof->quiet, STDERR_FILENO);
    run(proof);
    dup2(loud, STDERR_FILENO);
    close(loud);
}

/* Under valgrind and with sanitizers, where all takes many times as long: violations are found without them. */
static bool for_memory_only(void)
{
#ifdef __SANITIZE_ADDRESS__
    return !g_test_thorough();
#else
    return g_getenv("LISTRUNNER_VALGRIND") != NULL;
#endif
}

static bool try_sampled(void *data, const CrashState *state)
{
    return state->hash % SAMPLE != 0 || try_state(data, state);
}

static bool is_sync(const CrashLog *log, guint i)
{
    FsCall call = g_array_index(log->ops, CrashOp, i).call;
    return call == FS_SYNC_FILE || call == FS_SYNC_DIR;
}

typedef struct Tally {
    unsigned caught, idle, impossible, nothing_new, same, missed;
} Tally;

/* "no sync dir in", "sync dir in, unlink in .done": the steps as they are after the change. */
static char *change_text(const CrashOp *op, CrashMutation mutation)
{
    g_autofree char *first = g_strdup(crashlog_text(op));
    if (mutation.change == CRASH_DROP)
        return g_strconcat("no ", first, NULL);
    return g_strdup_printf("%s, %s%s", crashlog_text(op + 1), first,
                           crashlog_apart(op, op + 1) ? " of another file" : "");
}

/* Places in the code that sync: whether one script at least needs it. */
typedef struct Site {
    char *what;
    bool caught;
} Site;

static GHashTable *sites; /* CrashOp.site -> Site */
static unsigned proved;   /* scripts */

static void note_site(const Proof *proof, const CrashOp *op, bool caught)
{
    Site *site = g_hash_table_lookup(sites, &op->site);
    if (!site) {
        site = g_new0(Site, 1);
        site->what = g_strdup_printf("%s: %s", proof->script->name, crashlog_text(op));
        g_hash_table_insert(sites, g_memdup2(&op->site, sizeof op->site), site);
    }
    site->caught |= caught;
}

/* A sync that no script needs is none that anybody needs, or a script is missing. */
static void test_every_sync(void)
{
    GHashTableIter iter;
    gpointer value;
    unsigned needed = 0;
    if (proved < G_N_ELEMENTS(scripts)) {
        g_test_skip("for all scripts only");
        return;
    }
    g_hash_table_iter_init(&iter, sites);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Site *site = value;
        needed += site->caught;
        if (!site->caught)
            g_test_message("no script needs this sync: %s", site->what);
    }
    g_test_message("%u places that sync, %u of them needed", g_hash_table_size(sites), needed);
    if (needed < g_hash_table_size(sites))
        g_test_fail();
}

/* Plays the changed log; a violation must be found. There is none to find where two steps that change places lead to
 * no state of the disk that was not possible before, with as much promised then; or where of each such state comes what
 * may come of one that was. */
static void mutate(Proof *proof, CrashMutation mutation, Tally *tally)
{
    const CrashOp *op = &g_array_index(proof->log->ops, CrashOp, mutation.at);
    g_autofree char *change = change_text(op, mutation);
    bool swap = mutation.change == CRASH_SWAP;
    if (swap && !crashlog_can_swap(proof->log, mutation.at)) {
        tally->impossible++;
        return;
    }
    proof->fresh = proof->other = 0;
    bool differs = crashlog_states(proof->log, mutation, try_state, proof);
    mutation.compare = true;
    if (differs && !proof->violation)
        crashlog_states(proof->log, mutation, compare_state, proof);
    if (!proof->violation && swap && proof->fresh > 0) /* what if it dies between the two? */
        try_killed(proof, mutation, mutation.at + 1);
    if (proof->violation && g_test_verbose())
        g_test_message("%u %s: caught: %s", mutation.at, change, proof->violation);
    unsigned *kind = proof->violation              ? &tally->caught
                     : !differs && !swap           ? &tally->idle
                     : proof->fresh == 0           ? &tally->nothing_new
                     : proof->other == 0           ? &tally->same
                                                   : &tally->missed;
    ++*kind;
    if (!swap)
        note_site(proof, op, kind == &tally->caught);
    if (kind == &tally->missed || (g_test_verbose() && kind == &tally->same))
        g_test_message("%u %s: %s", mutation.at, change, kind == &tally->same ? "the same comes of it" : "NOT CAUGHT");
    g_clear_pointer(&proof->violation, g_free);
}

static void mutate_all(Proof *proof)
{
    Tally dropped = {0}, swapped = {0};
    for (guint i = proof->log->changes; i < proof->log->ops->len; i++) {
        if (is_sync(proof->log, i))
            mutate(proof, (CrashMutation){CRASH_DROP, i, false}, &dropped);
        if (i + 1 < proof->log->ops->len)
            mutate(proof, (CrashMutation){CRASH_SWAP, i, false}, &swapped);
    }
    g_test_message("syncs left out: %u caught, %u had nothing to sync, %u lead to no new state, of %u the same comes, "
                   "%u not caught", dropped.caught, dropped.idle, dropped.nothing_new, dropped.same, dropped.missed);
    g_test_message("steps changed about: %u caught, %u lead to no new state, of %u the same comes, %u cannot be, %u "
                   "not caught", swapped.caught, swapped.nothing_new, swapped.same, swapped.impossible, swapped.missed);
    if (dropped.missed + swapped.missed > 0)
        g_test_fail();
}

static void prove(Proof *proof)
{
    bool sampled = for_memory_only();
    crashlog_states(proof->log, (CrashMutation){CRASH_AS_IS, 0, false}, sampled ? try_sampled : try_twice, proof);
    if (!proof->violation && !sampled)
        kill_anywhere(proof);
    g_test_message("%s: %u steps, %u states, after a second cut %u, after a kill %u; %u distinct on the disk; %s",
                   proof->script->name, proof->log->ops->len - proof->log->first, proof->states, proof->second,
                   proof->after_kill,
                   g_hash_table_size(proof->results), proof->violation ? proof->violation : "no violation");
    if (proof->violation)
        g_test_fail();
    else if (!sampled)
        mutate_all(proof);
    g_clear_pointer(&proof->violation, g_free);
}

static void test_script(gconstpointer data)
{
    const Script *script = data;
    CrashWorld one;
    crashworld_init(&one);
    world = &one;
    g_autoptr(CrashLog) log = crashlog_new();
    g_autoptr(GHashTable) results = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                                          (GDestroyNotify)crashresult_free);
    g_autoptr(GHashTable) outcomes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                                           (GDestroyNotify)g_array_unref);
    auto_fd quiet = memfd_create("log", MFD_CLOEXEC);
    Proof proof = {.script = script, .results = results, .outcomes = outcomes, .log = log, .quiet = quiet};
    one.log = log;
    crashlog_record(log);
    script->run(&one);
    crashlog_stop();
    one.log = NULL; /* the drains note nothing */
    if (g_test_verbose())
        print_steps(log);
    quietly(&proof, prove);
    proved++;
    crashworld_clear(&one);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    sites = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
        g_autofree char *path = g_strdup_printf("/crash states/%s", scripts[i].name);
        g_test_add_data_func(path, &scripts[i], test_script);
    }
    if (!for_memory_only())
        g_test_add_func("/crash states/every sync", test_every_sync);
    return g_test_run();
}
